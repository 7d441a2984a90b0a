/* Golden tables: what the grammar takes, and what it refuses with which words and where. */
#include "hostlist_test.h"

#define RUN_ACCEPT(table, form)                                                                              \
    for (size_t i = 0; i < ARRAY_LEN(table); i++)                                                            \
    check_accept(&(table)[i], form)
#define RUN_REJECT(table, form)                                                                              \
    for (size_t i = 0; i < ARRAY_LEN(table); i++)                                                            \
    check_reject(&(table)[i], form)

/* Comments, blanks and the spellings that other tools read each in their own way. */
static const struct accept_case spellings[] = {
    {"a", "a"},
    {"a\n", "a"},
    {"a\nb", "a|b"},
    {"a\nb\n", "a|b"},
    {"a slots=8\r\nb\r\n", "a slots=8|b"},
    {"a\r\nb\r", "a|b"},
    {"\xEF\xBB\xBF"
     "a slots=8\nb",
     "a slots=8|b"},
    {"a slots=8", "a slots=8"},
    {"a\tslots=8", "a slots=8"},
    {"a \t slots=8\t ", "a slots=8"},
    {"  a slots=8", "a slots=8"},
    {"a # note", "a"},
    {"a\t#note", "a"},
    {"a slots=8 # note, with a comma", "a slots=8"},
    {"# head\na", "a"},
    {"  # head\na", "a"},
    {"\n\n \t\na\n\n\nb\n\n", "a|b"},
    {"a slots=008", "a slots=8"},
    {"a slots='8'", "a slots=8"},
    {"a slots=\"8\"", "a slots=8"},
    {"a slots=1\nb slots=1024", "a slots=1|b slots=1024"},
    {"worker-1 slots=8\nworker-2 slots=8\n", "worker-1 slots=8|worker-2 slots=8"},
};

static const struct reject_case bad_spellings[] = {
    {"a slots=0", 1, 3, "'slots=0' is not allowed", "slots=8"},
    {"a slots=8x", 1, 3, "'slots=8x' is not allowed", "slots=8"},
    {"a slots=1025", 1, 3, "'slots=1025' is not allowed", "1 to 1024"},
    {"a slots=-1", 1, 3, "'slots=-1' is not allowed", "1 to 1024"},
    {"a slots=+8", 1, 3, "'slots=+8' is not allowed", "1 to 1024"},
    {"a slots=8.0", 1, 3, "'slots=8.0' is not allowed", "1 to 1024"},
    {"a slots=8#", 1, 3, "'slots=8#' is not allowed", "1 to 1024"},
    {"a slots=18446744073709551624", 1, 3, "'slots=18446744073709551624' is not allowed", "1 to 1024"},
    {"a slots = 8", 1, 3, "blanks around '=' in 'slots = 8'", "write 'slots=8'"},
    {"a slots =8", 1, 3, "blanks around '=' in 'slots = 8'", "write 'slots=8'"},
    {"a slots= 8", 1, 3, "blanks around '=' in 'slots= 8'", "write 'slots=8'"},
    {"a slots=", 1, 3, "'slots=' has no value", "directly after the '='"},
    {"a slots= # 8", 1, 3, "'slots=' has no value", "directly after the '='"},
    {"a slots", 1, 3, "'slots' is not of the form key=value", "did you mean 'slots='"},
    {"a 8", 1, 3, "'8' is not of the form key=value", "slots=8"},
    {"a =8", 1, 3, "no key before '='", "slots=8"},
    {"a b", 1, 3, "'b' is not of the form key=value", "one entry per line"},
    {"x slots=8\nx2 lots=8", 2, 4, "unknown key 'lots' in 'lots=8'", "did you mean 'slots='"},
    {"a SLOTS=8", 1, 3, "unknown key 'SLOTS' in 'SLOTS=8'", "did you mean 'slots='"},
    {"a colour=red", 1, 3, "unknown key 'colour' in 'colour=red'", "keys are slots, gpus, addr"},
    {"a NCCL_DEBUG=INFO", 1, 3, "unknown key 'NCCL_DEBUG' in 'NCCL_DEBUG=INFO'", "env.NCCL_DEBUG="},
    {"a slots=8 slots=8", 1, 11, "'slots=' is given twice", "once"},
    {"a,b", 1, 2, "',' on a line of a host list", "one entry per line"},
    {"a slots=8,b slots=8", 1, 10, "',' on a line of a host list", "one entry per line"},
    {"a ,b", 1, 3, "',' on a line of a host list", "one entry per line"},
    {",a", 1, 1, "',' on a line of a host list", "one entry per line"},
    {"a env.X='1',b", 1, 12, "',' on a line of a host list", "one entry per line"},
};

static const struct accept_case names[] = {
    {"g0033", "g0033"},
    {"node-1.cluster.local", "node-1.cluster.local"},
    {"_x.Y-z", "_x.Y-z"},
    {"10-0-0-1", "10-0-0-1"},
    {"1a", "1a"},
    {"a:22", "a:22"},
    {"a:65535", "a:65535"},
    {"root@10.0.0.7 slots=1", "root@10.0.0.7 slots=1"},
    {"setup@g1:2222", "setup@g1:2222"},
    {"a+b.c\\d%e#f=g@h", "a+b.c\\d%e#f=g@h"},
    {"[x@h", "[x@h"},
    {"10.0.0.[1-3]", "10.0.0.1|10.0.0.2|10.0.0.3"},
    {"10.0.[0-1].[254-255]", "10.0.0.254|10.0.0.255|10.0.1.254|10.0.1.255"},
    {"fe80::1 slots=8", "fe80::1 slots=8"},
    {"::1", "::1"},
    {"[2001:db8::2]:2222", "2001:db8::2:2222"},
    {"[2001:db8::2]", "2001:db8::2"},
    {"user@[2001:db8::2]", "user@2001:db8::2"},
    {"user@2001:db8::2", "user@2001:db8::2"},
    {"fe80::1%eth0", "fe80::1%eth0"},
    {"[fe80::1%eth0.5]:2222", "fe80::1%eth0.5:2222"},
    {"::ffff:10.0.0.1", "::ffff:10.0.0.1"},
    {"localhost\n127.0.0.1\n127.0.0.2", "localhost|127.0.0.1|127.0.0.2"},
};

static const struct reject_case bad_names[] = {
    {"-a", 1, 1, "the host name '-a' starts with '-'", "letter"},
    {"a/b", 1, 2, "'/' is not allowed in the host name 'a/b'", "letters"},
    {"gäb", 1, 2, "'ä' is not allowed in the host name 'gäb'", "letters"},
    {"'a'", 1, 1, "''' is not allowed in the host name ''a''", "letters"},
    {"a=b", 1, 2, "'=' is not allowed in the host name 'a=b'", "letters"},
    {"a#b", 1, 2, "'#' is not allowed in the host name 'a#b'", "letters"},
    {"a@b@c", 1, 4, "two '@' in 'a@b@c'", "[user@]name[:port]"},
    {"@b", 1, 1, "'@b': a group is not allowed here", "the hosts themselves"},
    {"-x@b", 1, 1, "'-x' is not a valid user name", "a user is"},
    {"u:p@b", 1, 1, "'u:p' is not a valid user name", "a user is"},
    {"u@", 1, 1, "no host name in 'u@'", "[user@]name[:port]"},
    {":22", 1, 1, "no host name in ':22'", "[user@]name[:port]"},
    {"u@:22", 1, 3, "no host name in 'u@:22'", "[user@]name[:port]"},
    {"a:8", 1, 2, "port ':8' is below 22", "slots=8"},
    {"a:21", 1, 2, "port ':21' is below 22", "slots=21"},
    {"a:0", 1, 2, "port ':0' is below 22", "slots=8"},
    {"a:65536", 1, 2, "port ':65536' is above 65535", "22 to 65535"},
    {"a:", 1, 2, "':' is no port", "slots=8"},
    {"a:8x", 1, 2, "':8x' is no port", "slots=8"},
    {"a:[22-24]", 1, 2, "':[22-24]' is no port", "22 to 65535"},
    {"a:22:33", 1, 1, "'a:22:33' is neither host:port nor an IPv6 address", "[2001:db8::2]:2222"},
    {"2001:db8::g", 1, 1, "'2001:db8::g' is neither host:port nor an IPv6 address", "[2001:db8::2]:2222"},
    {"2001:db8::[1-4]", 1, 1, "'2001:db8::[1-4]' is neither host:port nor an IPv6 address",
     "[2001:db8::2]:2222"},
    {"[2001:db8::2", 1, 1, "unclosed '[' in '[2001:db8::2'", "[2001:db8::2]:2222"},
    {"[2001:db8::g]", 1, 1, "'2001:db8::g' is not an IPv6 address", "2001:db8::2"},
    {"[2001:db8::2]x", 1, 14, "'x' after the address in '[2001:db8::2]x'", "only a port"},
    {"[2001:db8::2]:8", 1, 14, "port ':8' is below 22", "slots=8"},
    {"fe80::1%", 1, 1, "'fe80::1%' is neither host:port nor an IPv6 address", "brackets"},
    {"fe80::1%interface-too-long", 1, 1,
     "'fe80::1%interface-too-long' is neither host:port nor an IPv6 address", "brackets"},
    {"10.0.0", 1, 1, "'10.0.0' is not an IPv4 address, and a name needs a letter", "10.0.0.[1-4]"},
    {"10.0.0.256", 1, 1, "'10.0.0.256' is not an IPv4 address, and a name needs a letter", "10.0.0.[1-4]"},
    {"10.0.0.01", 1, 1, "'10.0.0.01' is not an IPv4 address, and a name needs a letter", "10.0.0.[1-4]"},
    {"10.0.0.1.", 1, 1, "'10.0.0.1.' is not an IPv4 address, and a name needs a letter", "10.0.0.[1-4]"},
    {"10.0.0.[254-256]", 1, 1, "'10.0.0.256' is not an IPv4 address, and a name needs a letter",
     "10.0.0.[1-4]"},
    {"u@10.0.0.[01-04]", 1, 3, "'10.0.0.01' is not an IPv4 address, and a name needs a letter",
     "10.0.0.[1-4]"},
    {"33", 1, 1, "'33' is not an IPv4 address, and a name needs a letter", "10.0.0.[1-4]"},
    {"..", 1, 1, "'..' is not an IPv4 address, and a name needs a letter", "10.0.0.[1-4]"},
    {"10.0.0.1-4", 1, 1, "'10.0.0.1-4' is not an IPv4 address", "10.0.0.[1-4]"},
    {"10.1.2.30-10.1.2.40", 1, 1, "'10.1.2.30-10.1.2.40' is not an IPv4 address", "'10.1.2.[30-40]'"},
    {"10.0-1", 1, 1, "'10.0-1' is not an IPv4 address", "10.0.0.[1-4]"},
    {"a\x01", 1, 2, "control character 0x01 in a host list", "UTF-8"},
    {"a\rb", 1, 2, "control character 0x0d in a host list", "UTF-8"},
    {"a env.X='\x1b[2J'", 1, 10, "control character 0x1b in a host list", "UTF-8"},
    {"a\x7f", 1, 2, "control character 0x7f in a host list", "UTF-8"},
};

static const struct accept_case ranges[] = {
    {"g[0033-0036]", "g0033|g0034|g0035|g0036"},
    {"a[1,3,7-9]", "a1|a3|a7|a8|a9"},
    {"a[0-30/10]", "a0|a10|a20|a30"},
    {"a[0-29/10]", "a0|a10|a20"},
    {"a[00-04/2]x", "a00x|a02x|a04x"},
    {"a[1-2]b[1-2]", "a1b1|a1b2|a2b1|a2b2"},
    {"a[1-2][0-1]", "a10|a11|a20|a21"},
    {"r[1-2]n[01,03]-[7,8]", "r1n01-7|r1n01-8|r1n03-7|r1n03-8|r2n01-7|r2n01-8|r2n03-7|r2n03-8"},
    {"[1-2]a", "1a|2a"},
    {"n[8-11]", "n8|n9|n10|n11"},
    {"g[08-11]", "g08|g09|g10|g11"},
    {"g[0-10/5]", "g0|g5|g10"},
    {"g[0-0]", "g0"},
    {"g[00]", "g00"},
    {"g[007,7,07]", "g007|g7|g07"},
    {"g[3,1,2]", "g3|g1|g2"},
    {"g[5-5]", "g5"},
    {"g[1-2/9]", "g1"},
    {"g[1-2/999999999999999999]", "g1"},
    {"g[099-100]", "g099|g100"},
    {"g[999999999999999998-999999999999999999]", "g999999999999999998|g999999999999999999"},
    {"root@g[1-2]:2222 slots=8", "root@g1:2222 slots=8|root@g2:2222 slots=8"},
    {"c09\nc010", "c09|c010"},
    {"a001\na2", "a001|a2"},
};

static const struct reject_case bad_ranges[] = {
    {"g[45-33]", 1, 2, "the range '[45-33]' is reversed: '45' is above '33'", "[33-45]"},
    {"g[36-40-44]", 1, 2, "'[36-40-44]' is not a valid range", "[0033-0036]"},
    {"g[]", 1, 2, "empty range '[]'", "[0033-0036]"},
    {"g[1-", 1, 2, "unclosed '[' in 'g[1-'", "close the range"},
    {"g[1-2]3[", 1, 8, "unclosed '[' in 'g[1-2]3['", "close the range"},
    {"g[1, 2]", 1, 2, "unclosed '[' in 'g[1,'", "no blank inside"},
    {"g[1[2]]", 1, 2, "'[' inside '[' in 'g[1[2]]'", "do not nest"},
    {"g1]", 1, 3, "']' without '[' in 'g1]'", "g[0033-0036]"},
    {"g[1,]", 1, 2, "'[1,]' is not a valid range", "[1,3,7-9]"},
    {"g[,1]", 1, 2, "'[,1]' is not a valid range", "[1,3,7-9]"},
    {"g[-1]", 1, 2, "'[-1]' is not a valid range", "[1,3,7-9]"},
    {"g[1-]", 1, 2, "'[1-]' is not a valid range", "[1,3,7-9]"},
    {"g[a-c]", 1, 2, "'[a-c]' is not a valid range", "[1,3,7-9]"},
    {"g[1..4]", 1, 2, "'[1..4]' is not a valid range", "[1,3,7-9]"},
    {"g[3/2]", 1, 2, "'[3/2]' is not a valid range", "[0-30/2]"},
    {"g[0-30/]", 1, 2, "'[0-30/]' is not a valid range", "[0-30/2]"},
    {"g[0-30/2/3]", 1, 2, "'[0-30/2/3]' is not a valid range", "[0-30/2]"},
    {"g[0-30/0]", 1, 2, "step 0 in '[0-30/0]'", "1 or more"},
    {"g[08-9]", 1, 2, "bounds of unequal width in '[08-9]': '08' and '9'", "[08-09]"},
    {"g[1-010]", 1, 2, "bounds of unequal width in '[1-010]': '1' and '010'", "[001-010]"},
    {"g[0-010]", 1, 2, "bounds of unequal width in '[0-010]': '0' and '010'", "[000-010]"},
    {"g[00-100]", 1, 2, "bounds of unequal width in '[00-100]': '00' and '100'", "[000-100]"},
    {"g[099-1000]", 1, 2, "bounds of unequal width in '[099-1000]': '099' and '1000'", "[0099-1000]"},
    {"g[1000000000000000000]", 1, 2, "a number of more than 18 digits in '[1000000000000000000]'",
     "before the bracket"},
};

static const struct accept_case commas[] = {
    {"g[0033-0036],login1:2222", "g0033|g0034|g0035|g0036|login1:2222"},
    {"a,b,c", "a|b|c"},
    {"a , b", "a|b"},
    {" a ", "a"},
    {"g[1,3],x", "g1|g3|x"},
    {"a slots=8,b slots=4", "a slots=8|b slots=4"},
    {"a gpus=\"0,2\",b", "a slots=2 gpus=0,2|b"},
    {"a gpus='0,2',b", "a slots=2 gpus=0,2|b"},
    {"a gpus=0-1,b", "a slots=2 gpus=0,1|b"},
    {"a env.X='1,2',b", "a env.X=1,2|b"},
    {"a env.X=[1,2],b", "a env.X=[1,2]|b"},
    {"a env.X=,b", "a env.X=|b"},
    {"[2001:db8::2]:2222,fe80::1,b", "2001:db8::2:2222|fe80::1|b"},
    {"a,\nb\n", "a|b"},
    {"a # the first, of two\n,b", "a|b"},
    {"a,b,^a", "b"},
    {"a\r\n", "a"},
};

static const struct reject_case bad_commas[] = {
    {",a", 0, 1, "an entry between commas is empty", "extra ','"},
    {"a,,b", 0, 3, "an entry between commas is empty", "extra ','"},
    {"a,", 0, 3, "an entry between commas is empty", "extra ','"},
    {"a, # b", 0, 7, "an entry between commas is empty", "extra ','"},
    {",", 0, 1, "an entry between commas is empty", "extra ','"},
    {"a b", 0, 3, "'b' is not of the form key=value", "commas"},
    {"a\nb", 0, 1, "'b' is not of the form key=value", "commas"},
    {"a gpus=0,2", 0, 10, "'2' after the comma of an unquoted 'gpus='", "gpus=\"0,2\""},
    {"a gpus=0,2-3,b", 0, 10, "'2-3' after the comma of an unquoted 'gpus='", "gpus=\"0,2\""},
    {"g[1-,h", 0, 2, "unclosed '[' in 'g[1-,h'", "close the range"},
    {"a]b,c", 0, 2, "']' without '[' in 'a]b'", "g[0033-0036]"},
    {"a env.X=[1,b", 0, 3, "unclosed '[' in the value of 'env.X='", "quote"},
    {"a,b slots=8x", 0, 5, "'slots=8x' is not allowed", "slots=8"},
};

static const struct reject_case bad_quotes[] = {
    {"a env.X='b", 1, 9, "the quote of 'env.X=' is not closed", "'"},
    {"a env.X=\"b'", 1, 9, "the quote of 'env.X=' is not closed", "\""},
    {"a env.X='b\nc'", 1, 9, "the quote of 'env.X=' is not closed", "same line"},
    {"a env.X='b'c", 1, 12, "text directly after the closing quote of 'env.X='", "whole value"},
    {"a env.X=b'c'", 1, 10, "a quote inside the value of 'env.X='", "whole value"},
    {"a env.X={\"a\":1}", 1, 10, "a quote inside the value of 'env.X='", "whole value"},
    {"a env.X=a[b", 1, 3, "unclosed '[' in the value of 'env.X='", "quote"},
};

static void test_spellings(void **state)
{
    (void)state;
    RUN_ACCEPT(spellings, HOSTLIST_LINES);
    RUN_REJECT(bad_spellings, HOSTLIST_LINES);
}

static void test_names(void **state)
{
    (void)state;
    RUN_ACCEPT(names, HOSTLIST_LINES);
    RUN_REJECT(bad_names, HOSTLIST_LINES);
}

static void test_ranges(void **state)
{
    (void)state;
    RUN_ACCEPT(ranges, HOSTLIST_LINES);
    RUN_REJECT(bad_ranges, HOSTLIST_LINES);
}

static void test_commas(void **state)
{
    (void)state;
    RUN_ACCEPT(commas, HOSTLIST_COMMAS);
    RUN_REJECT(bad_commas, HOSTLIST_COMMAS);
}

static void test_quotes(void **state)
{
    static const struct accept_case quotes[] = {
        {"a env.X='a b'", "a env.X=a b"},
        {"a env.X=\"it's\"", "a env.X=it's"},
        {"a env.X='{\"a\": 1}'", "a env.X={\"a\": 1}"},
        {"a env.X=''", "a env.X="},
        {"a env.X=", "a env.X="},
        {"a env.X='a # b'", "a env.X=a # b"},
        {"a env.X=a=b", "a env.X=a=b"},
        {"a env.X=a#b", "a env.X=a#b"},
        {"a env.X=\\n$HOME", "a env.X=\\n$HOME"},
        {"a env.X='a\tb'", "a env.X=a\tb"},
        {"a workdir='/data/my runs'", "a workdir=/data/my runs"},
    };

    (void)state;
    RUN_ACCEPT(quotes, HOSTLIST_LINES);
    RUN_REJECT(bad_quotes, HOSTLIST_LINES);
}

/* No byte 0x0d may reach a name or a value, wherever lines end in CRLF. */
static void test_crlf_leaves_no_cr(void **state)
{
    struct hostlist list = HOSTLIST_INIT;
    static const char text[] = "\xEF\xBB\xBF"
                               "a slots=8 workdir=/x\r\nb env.X=1\r\n# c\r\n\r\nd env.Y=\r\n";

    (void)state;
    assert_int_equal(hostlist_parse(&list, text, strlen(text), HOSTLIST_LINES, "hosts", 1, NULL, NULL), 0);
    AUTO_FREE char *got = hostlist_write(&list);
    assert_string_equal(got, "a slots=8 workdir=/x|b env.X=1|d env.Y=");
    assert_null(strchr(got, '\r'));
    assert_null(strchr(got, '\xEF'));
    hostlist_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings), cmocka_unit_test(test_names),
        cmocka_unit_test(test_ranges),    cmocka_unit_test(test_commas),
        cmocka_unit_test(test_quotes),    cmocka_unit_test(test_crlf_leaves_no_cr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
