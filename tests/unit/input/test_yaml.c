/* YAML to a tree: texts stay what was written, places are exact, what is not wanted is refused. */

#include "input/yaml.h"
#include "jobfile_test.h"

#define AUTO_DOC  __attribute__((cleanup(release_doc)))
#define AUTO_TREE __attribute__((cleanup(release_tree)))

static void release_doc(struct yaml_doc **doc)
{
    yaml_doc_free(*doc);
}

static void release_tree(struct yaml_node **node)
{
    yaml_node_free(*node);
}

static struct yaml_node *parse(const struct yaml_doc *doc, struct error *err)
{
    return yaml_parse(doc, YAML_FORM_FILE, "spec", &kind_job_file, err);
}

static void test_texts_stay_as_written(void **state)
{
    (void)state;
    static const char *const texts[] = {"NO",    "yes",   "on",  "True", "~",  "012",    "0033",       "1e-5",
                                        "12:30", "1_0",   "0x1", "0o17", ".5", "+1",     "2001-01-01", "1.0",
                                        "=",     "é日本", "a#b", "a b",  "-1", "${{x}}", "$HOME"};
    FOR_ROWS(i, texts, texts[i]) {
        AUTO_FREE char *text = xasprintf("k: %s # note\n", texts[i]);
        AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f", text, strlen(text));
        struct error err = ERROR_INIT;
        AUTO_TREE struct yaml_node *root = parse(doc, &err);
        assert_non_null(root);
        assert_string_equal(yaml_get(root, "k")->text, texts[i]);
        assert_true(yaml_get(root, "k")->plain);
        assert_false(yaml_is_null(yaml_get(root, "k")));
    }
}

static void test_tree_has_types_and_places(void **state)
{
    (void)state;
    const char *text =
        "\xEF\xBB\xBF# note\r\na: [x, 'y']\r\nb:\r\n  c: |\r\n    l1\r\n  d: \"q\"\r\né: {z: }\r\n";
    AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f", text, strlen(text));
    struct error err = ERROR_INIT;
    AUTO_TREE struct yaml_node *root = parse(doc, &err);
    assert_non_null(root);
    assert_int_equal(root->type, YAML_MAP);
    assert_int_equal(root->len, 3);
    const struct yaml_node *list = yaml_get(root, "a");
    assert_int_equal(list->type, YAML_LIST);
    assert_int_equal(list->len, 2);
    assert_int_equal(list->line, 2);
    assert_int_equal(list->items[1]->column, 8);
    assert_true(list->items[0]->plain);
    assert_true(list->items[1]->quoted);
    assert_string_equal(list->items[1]->text, "y");
    const struct yaml_node *block = yaml_get(yaml_get(root, "b"), "c");
    assert_string_equal(block->text, "l1\n");
    assert_false(block->plain || block->quoted);
    assert_int_equal(yaml_get(yaml_get(root, "b"), "d")->line, 6);
    const struct yaml_node *empty = yaml_get(yaml_get(root, "é"), "z");
    assert_true(yaml_is_null(empty));
    assert_string_equal(yaml_type_name(empty), "null");
    assert_string_equal(yaml_type_name(root), "a mapping");
    assert_string_equal(yaml_type_name(list), "a list");
    assert_string_equal(yaml_type_name(block), "a string");
    assert_null(yaml_get(list, "a"));
    assert_null(yaml_get(NULL, "a"));
}

static void test_only_plain_words_are_special(void **state)
{
    (void)state;
    const char *text = "[null, 'null', \"true\", true, Null, '']";
    AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f", text, strlen(text));
    struct error err = ERROR_INIT;
    AUTO_TREE struct yaml_node *root = parse(doc, &err);
    assert_true(yaml_is_null(root->items[0]));
    assert_false(yaml_is_null(root->items[1]));
    assert_false(yaml_is_word(root->items[2], "true"));
    assert_true(yaml_is_word(root->items[3], "true"));
    assert_false(yaml_is_null(root->items[4]));
    assert_false(yaml_is_null(root->items[5]));
}

#define LIKE(n)                                                                                              \
    "give this line as many blanks as line " n " has: entries of one list or mapping begin in one column"

#define FOLLOWS "put quotes around the whole value, or remove what follows it"

static const struct refusal refusals[] = {
    {"a: 1\nb: 2\na: 3\n", 3, 1, "'a' is given twice, first on line 1", "keep one of the two"},
    {"a: {x: 1, x: 2}\n", 1, 11, "'x' is given twice, first on line 1", "keep one of the two"},
    {"a: &x 1\n", 1, 4, "an anchor is not allowed", "put quotes around text that begins with '&'"},
    {"a: &x [1]\n", 1, 4, "an anchor is not allowed", "put quotes around text that begins with '&'"},
    {"a: &x {b: 1}\n", 1, 4, "an anchor is not allowed", "put quotes around text that begins with '&'"},
    {"a: [*_TOKEN]\n", 1, 5, "an alias is not allowed", "put quotes around text that begins with '*'"},
    {"<<: {a: 1}\n", 1, 1, "a merge key '<<' is not allowed", "write the keys out, or use profiles"},
    {"a: !!str 5\n", 1, 4, "a tag is not allowed", "put quotes around text that begins with '!'"},
    {"a: !x [1]\n", 1, 4, "a tag is not allowed", "put quotes around text that begins with '!'"},
    {"a: ! {x: 1}\n", 1, 4, "a tag is not allowed", "put quotes around text that begins with '!'"},
    {"a: 1\n---\nb: 1\n", 2, 1, "a second document is not allowed", "keep one document per file"},
    {"a:\n\tb: 1\n", 2, 1, "a tab in the indentation", "indent with blanks"},
    {"a: [1,\n  \t2]\n", 2, 3, "a tab in the indentation", "indent with blanks"},
    {"a: 'x\n\ty'\n", 2, 1, "a tab in the indentation", "indent with blanks"},
    {"? [a]\n: 1\n", 1, 3, "a key is a list, expected a string", ""},
    {"? {a: 1}\n: 1\n", 1, 3, "a key is a mapping, expected a string", ""},
    {"'': 1\n", 1, 1, "a key is empty", "write a name in front of the colon, or remove the entry"},
    {"a: \"x\\0y\"\n", 1, 4, "the value contains a NUL byte",
     "leave the \\0 out: no argument or variable can contain it"},
    {"a: b: c\n", 1, 5, "not valid YAML: mapping values are not allowed in this context",
     "put quotes around text that contains ': '"},
    {"a: {b:, c: 1}\n", 1, 6, "not valid YAML: found unexpected ':' while scanning a plain scalar",
     "write a blank after the colon"},
    {"a: [1, 2\nb: 3\n", 2, 2,
     "not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
     "inside [ ] and { } put quotes around text that contains , [ ] { } or ${{ }}"},
    {"a: {o: ${{run}}/x}\n", 1, 9,
     "not valid YAML: did not find expected ',' or '}' while parsing a flow mapping",
     "inside [ ] and { } put quotes around text that contains , [ ] { } or ${{ }}"},
    {"a: [1, 2\n", 1, 4, "not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
     "close what begins here"},
    {"a: \"x\n", 1, 4, "not valid YAML: found unexpected end of stream while scanning a quoted scalar",
     "close what begins here"},
    {"a: @x\n", 1, 4,
     "not valid YAML: found character that cannot start any token while scanning for the next token",
     "put quotes around text that begins with this character"},
    {"a: *-\n", 1, 4, NULL, "put quotes around text that begins with '*'"},
    {"a: &!\n", 1, 4, NULL, "put quotes around text that begins with '&'"},
    {"a: 1\nfoo\n", 3, 1, "not valid YAML: could not find expected ':' while scanning a simple key",
     "write 'key: value', with a blank after the colon"},
    /* W9: the line that is indented wrongly, and the one it is measured by */
    {"a:\n  b: 1\n c: 2\n", 3, 2, "not valid YAML: indented differently from line 2", LIKE("2")},
    {"a: 1\n  b: 2\n", 2, 3, "not valid YAML: indented differently from line 1", LIKE("1")},
    {"a:\n  b: 1\n\n  # c\n    d: 2\n", 5, 5, "not valid YAML: indented differently from line 2", LIKE("2")},
    {"a:\n  - b\n   - c\n", 3, 4, "not valid YAML: indented differently from line 2", LIKE("2")},
    {"a:\n    - b\n  - c\n", 3, 3, "not valid YAML: indented differently from line 2", LIKE("2")},
    {"a: b\n  c: d: e\n", 2, 3, "not valid YAML: indented differently from line 1", LIKE("1")},
    /* what follows a complete value is no matter of indentation */
    {"a:\n  b: \"1\" x\n", 2, 10, "not valid YAML: did not find expected key while parsing a block mapping",
     FOLLOWS},
    {"a:\n  - \"1\" x\n", 2, 9,
     "not valid YAML: did not find expected '-' indicator while parsing a block collection", FOLLOWS},
    {"a: é\xff\n", 1, 5, "not valid YAML: invalid leading UTF-8 octet", ""},
    {"a: 1\nb: \x01\n", 2, 4, "not valid YAML: control characters are not allowed", ""},
};

static void test_refusals_name_the_place(void **state)
{
    (void)state;
    FOR_ROWS(i, refusals, refusals[i].spec) {
        const struct refusal *want = &refusals[i];
        AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f.yaml", want->spec, strlen(want->spec));
        struct error err = ERROR_INIT;
        AUTO_TREE struct yaml_node *root = parse(doc, &err);
        if (root != NULL) {
            fail_msg("accepted: %s", want->spec);
        }
        bool same =
            (want->text == NULL || strcmp(err.text, want->text) == 0) && strcmp(err.hint, want->hint) == 0;
        if (!same || err.line != want->line || (want->text != NULL && err.column != want->column)) {
            fail_msg("%s\n  got %u:%u: %s (%s)", want->spec, err.line, err.column, err.text, err.hint);
        }
        assert_ptr_equal(err.kind, &kind_job_file);
        assert_string_equal(err.file, "f.yaml");
    }
}

static void test_tabs_elsewhere_are_fine(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a:\t1\n",                      /* between key and value */
        "a: |\n  x\n  \ty\nb: 1\n",     /* in the lines of a block text */
        "a: |\n  x\n  \t\n  y\nb: 1\n", /* an empty line there */
        "a: 1\n \t\nb: 2\n",            /* an empty line */
        "a: >\n  x\n  \ty\n",           /* at the end of the file */
        "a: |\n  x\n  \ty\n\n\nb:\n  - |\n    q\n    \tz\n",
    };
    FOR_ROWS(i, texts, texts[i]) {
        AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f", texts[i], strlen(texts[i]));
        struct error err = ERROR_INIT;
        AUTO_TREE struct yaml_node *root = parse(doc, &err);
        if (root == NULL) {
            fail_msg("%s: %u:%u: %s", texts[i], err.line, err.column, err.text);
        }
    }
    const char *after = "a: |\n  x\nb: [1,\n\t2]\n";
    AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f", after, strlen(after));
    struct error err = ERROR_INIT;
    assert_null(parse(doc, &err));
    assert_int_equal(err.line, 4);
}

static void test_limits(void **state)
{
    (void)state;
    AUTO_STR struct str text = STR_INIT;
    for (int i = 0; i < YAML_MAX_DEPTH; i++) {
        str_add_char(&text, '[');
    }
    for (int i = 0; i < YAML_MAX_DEPTH; i++) {
        str_add_char(&text, ']');
    }
    AUTO_DOC struct yaml_doc *deep = yaml_doc_new("f", text.data, text.len);
    struct error err = ERROR_INIT;
    AUTO_TREE struct yaml_node *root = parse(deep, &err);
    assert_non_null(root);
    AUTO_FREE char *deeper = xasprintf("[%s]", text.data);
    AUTO_DOC struct yaml_doc *too_deep = yaml_doc_new("f", deeper, strlen(deeper));
    assert_null(parse(too_deep, &err));
    assert_string_equal(err.text, "nested more than 32 deep");
    assert_int_equal(err.column, YAML_MAX_DEPTH + 1);

    str_reset(&text);
    for (int i = 0; i <= YAML_MAX_ENTRIES; i++) {
        str_addf(&text, "k%d: 1\n", i);
    }
    AUTO_DOC struct yaml_doc *wide = yaml_doc_new("f", text.data, text.len);
    assert_null(parse(wide, &err));
    assert_string_equal(err.text, "a mapping of more than 2048 keys");
    assert_int_equal(err.line, YAML_MAX_ENTRIES + 1);

    AUTO_FREE char *big = xcalloc(YAML_MAX_BYTES + 2, 1);
    memset(big, '#', YAML_MAX_BYTES + 1);
    AUTO_DOC struct yaml_doc *long_doc = yaml_doc_new("f", big, YAML_MAX_BYTES + 1);
    assert_null(parse(long_doc, &err));
    assert_string_equal(err.text, "1048577 bytes long, allowed: 1048576");
    AUTO_DOC struct yaml_doc *fits = yaml_doc_new("f", big, YAML_MAX_BYTES);
    AUTO_TREE struct yaml_node *empty = parse(fits, &err);
    assert_non_null(empty);
    assert_true(yaml_is_null(empty));
}

static void test_values_of_options(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value, *error, *hint; /* value: the text; NULL with error NULL: no text */
    } cases[] = {
        {"1e-5", "1e-5", NULL, NULL},
        {"hello, world", "hello, world", NULL, NULL},
        {"'a: b'", "a: b", NULL, NULL},
        {"a#b", "a#b", NULL, NULL},
        {"", "", NULL, NULL},
        {"  ", "", NULL, NULL},
        {"[a, b]", NULL, NULL, NULL},
        {"{a: b} ", NULL, NULL, NULL},
        {"a: b", NULL, "the value reads as a block mapping or list",
         "put quotes around text that contains ': ' or begins with '- ', or write { } or [ ]"},
        {"- a", NULL, "the value reads as a block mapping or list",
         "put quotes around text that contains ': ' or begins with '- ', or write { } or [ ]"},
        {"#fff", NULL, "a '#' after a blank begins a comment", "put quotes around the value"},
        {"a #b", NULL, "a '#' after a blank begins a comment", "put quotes around the value"},
        {"[a] #b", NULL, "a '#' after a blank begins a comment", "put quotes around the value"},
        {"'é' #b", NULL, "a '#' after a blank begins a comment", "put quotes around the value"},
        {"--- a", NULL, "the value begins with a YAML marker", "put quotes around it"},
        {"|\n a", NULL, "the value is a block scalar", "put quotes around it"},
        {"[a", NULL,
         "the value is not valid YAML: did not find expected ',' or ']' while parsing a flow sequence",
         "put quotes around the value"},
    };
    FOR_ROWS(i, cases, cases[i].text) {
        AUTO_DOC struct yaml_doc *doc = yaml_doc_new("--set x", cases[i].text, strlen(cases[i].text));
        doc->is_option = true;
        struct error err = ERROR_INIT;
        AUTO_TREE struct yaml_node *node = yaml_parse(doc, YAML_FORM_VALUE, "--set", &kind_usage, &err);
        if ((node == NULL) != (cases[i].error != NULL)) {
            fail_msg("'%s': %s", cases[i].text, err.text);
        }
        if (node != NULL && cases[i].value != NULL) {
            assert_string_equal(node->text, cases[i].value);
        } else if (node != NULL) {
            assert_int_not_equal(node->type, YAML_TEXT);
        } else {
            assert_string_equal(err.text, cases[i].error);
            assert_string_equal(err.hint, cases[i].hint);
            assert_string_equal(err.file, "--set x");
            assert_int_equal(err.line, 0);
            assert_int_equal(err.column, 0);
        }
    }
}

static void test_secrets_are_masked_in_shown_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *shown;
    } cases[] = {
        {"env: {A: 1, API_KEY: sés am, B: 2}", "env: {A: 1, API_KEY: *** *** ** **"},
        {"  \"API_KEY\" : 'x'", "  \"API_KEY\" : ***"},
        {"setup: export API_KEY=abc", "setup: export API_KEY=***"},
        {"A: API_KEY", "A: API_KEY"},
        {"KEYS: 1", "KEYS: 1"},
    };
    FOR_ROWS(i, cases, cases[i].line) {
        AUTO_DOC struct yaml_doc *doc = yaml_doc_new("f", cases[i].line, strlen(cases[i].line));
        strlist_add(&doc->secrets, "*_KEY");
        struct error err = ERROR_INIT;
        error_set(&err, &kind_job_file, "x");
        yaml_place_at(doc, 1, 3, &err);
        assert_string_equal(err.source, cases[i].shown);
    }
}

static void test_merge_and_copy(void **state)
{
    (void)state;
    const char *base = "a: {x: 1, y: 2}\nb: [1, 2]\nc: t\nd: {z: 1}\n";
    const char *over = "a: {y: 3, w: [4]}\nb: [5]\nd: t\ne: {n: null}\n";
    AUTO_DOC struct yaml_doc *base_doc = yaml_doc_new("f", base, strlen(base));
    AUTO_DOC struct yaml_doc *over_doc = yaml_doc_new("g", over, strlen(over));
    struct error err = ERROR_INIT;
    AUTO_TREE struct yaml_node *root = parse(base_doc, &err);
    struct yaml_node *from = parse(over_doc, &err);
    yaml_merge(root, from, "profile p");
    yaml_node_free(from);
    const struct yaml_node *a = yaml_get(root, "a");
    assert_int_equal(a->len, 3);
    assert_string_equal(a->entries[0].key->text, "x");
    assert_string_equal(a->entries[0].value->origin, "spec");
    assert_string_equal(a->entries[1].value->text, "3");
    assert_string_equal(a->entries[1].value->origin, "profile p");
    assert_ptr_equal(a->entries[1].key->doc, over_doc);
    assert_string_equal(a->entries[2].value->items[0]->text, "4");
    assert_int_equal(yaml_get(root, "b")->len, 1);
    assert_string_equal(yaml_get(root, "d")->text, "t");
    assert_true(yaml_is_null(yaml_get(yaml_get(root, "e"), "n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_stay_as_written),
        cmocka_unit_test(test_tree_has_types_and_places),
        cmocka_unit_test(test_only_plain_words_are_special),
        cmocka_unit_test(test_refusals_name_the_place),
        cmocka_unit_test(test_tabs_elsewhere_are_fine),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_values_of_options),
        cmocka_unit_test(test_secrets_are_masked_in_shown_lines),
        cmocka_unit_test(test_merge_and_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
