/* Removes prefixes, colours and control characters from a line of a log. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean_internal.h"

#define TIME_WITHIN 64 /* a time is only looked for in the first bytes of a line */
#define RANK_DIGITS 7

/* The length of the escape sequence (ECMA-48 CSI, OSC to its end, or two bytes) at bytes[0] == ESC. */
static size_t escape_len(const char *bytes, size_t len)
{
    if (len < 2) {
        return len;
    }
    if (bytes[1] == ']') {
        for (size_t i = 2; i < len; i++) {
            if (bytes[i] == '\a' || bytes[i] == '\033') {
                return i + 1;
            }
        }
        return len;
    }
    if (bytes[1] != '[') {
        return 2;
    }
    for (size_t i = 2; i < len; i++) {
        if (bytes[i] >= '@' && bytes[i] <= '~') {
            return i + 1;
        }
    }
    return len;
}

static void copy_plain(const char *bytes, size_t len, struct clean_line *out)
{
    size_t i = 0;
    out->len = 0;
    while (i < len && out->len < SIGNATURE_TEXT_MAX) {
        if (bytes[i] == '\033') {
            i += escape_len(bytes + i, len - i);
            continue;
        }
        unsigned char byte = (unsigned char)bytes[i++];
        out->text[out->len++] = byte < 0x20 || byte == 0x7f ? ' ' : (char)byte;
    }
    while (out->len > 0 && out->text[out->len - 1] == ' ') {
        out->len--;
    }
    out->text[out->len] = '\0';
}

/* Read the digits at text. Returns how many there are; 0: none, or too many. */
static size_t read_digits(const char *text, long *value)
{
    size_t len = 0;
    long number = 0;
    while (len <= RANK_DIGITS && isdigit((unsigned char)text[len])) {
        number = number * 10 + (text[len] - '0');
        len++;
    }
    if (len == 0 || len > RANK_DIGITS) {
        return 0;
    }
    *value = number;
    return len;
}

/* "[NAME<digits>]:" with an optional blank after it. Returns its length or 0. */
static size_t bracket_prefix(const char *text, struct clean_line *out)
{
    size_t i = 1;
    while (isalpha((unsigned char)text[i]) || text[i] == '_') {
        i++;
    }
    long number = 0;
    size_t digits = i > 1 ? read_digits(text + i, &number) : 0;
    if (digits == 0 || strncmp(text + i + digits, "]:", 2) != 0) {
        return 0;
    }
    if (i == 5 && strncmp(text + 1, "rank", 4) == 0) {
        out->rank = number;
        out->prefixed = true;
    } else {
        out->local_rank = number;
        out->prefixed = true;
    }
    size_t len = i + digits + 2;
    return text[len] == ' ' ? len + 1 : len;
}

/* "3: " as srun and pdsh label lines. */
static size_t number_prefix(const char *text)
{
    long number = 0;
    size_t digits = read_digits(text, &number);
    return digits > 0 && text[digits] == ':' && text[digits + 1] == ' ' ? digits + 2 : 0;
}

static void strip_prefixes(struct clean_line *out)
{
    size_t from = 0;
    for (int i = 0; i < 3; i++) {
        const char *text = out->text + from;
        size_t len = text[0] == '[' ? bracket_prefix(text, out) : i == 0 ? number_prefix(text) : 0;
        if (len == 0) {
            break;
        }
        from += len;
    }
    if (from > 0) {
        out->len -= from;
        memmove(out->text, out->text + from, out->len + 1);
    }
}

/* Does the text begin with the form, such as "0000-00-00"? A 0 in the form stands for any digit. */
static bool has_form(const char *text, const char *form)
{
    for (; *form != '\0'; form++, text++) {
        bool same = *form == '0' ? isdigit((unsigned char)*text) : *form == *text;
        if (!same) {
            return false;
        }
    }
    return true;
}

/* The length of the time zone after a time: "Z", "+00:00", "+0000", or nothing. */
static size_t zone_len(const char *text)
{
    bool sign = *text == '+' || *text == '-';
    return *text == 'Z'                          ? 1
           : sign && has_form(text + 1, "00:00") ? 6
           : sign && has_form(text + 1, "0000")  ? 5
                                                 : 0;
}

/* RFC 3339 as docker and containerd put it before a line, and the form of most loggers. Returns its length.
 */
static size_t stamp_len(const char *text)
{
    const bool bracket = text[0] == '[';
    size_t at = bracket;
    if (!has_form(text + at, "0000-00-00") || !strchr("T ", text[at + 10]) ||
        !has_form(text + at + 11, "00:00:00")) {
        return 0;
    }
    at += 19;
    if (text[at] == '.' || text[at] == ',') {
        at += 1 + strspn(text + at + 1, "0123456789");
    }
    at += zone_len(text + at);
    if (bracket && text[at++] != ']') {
        return 0;
    }
    if (text[at] != ' ' && text[at] != '\0') {
        return 0;
    }
    at += text[at] == ' ';
    bool stream = strncmp(text + at, "stdout ", 7) == 0 || strncmp(text + at, "stderr ", 7) == 0;
    bool part =
        stream && (text[at + 7] == 'F' || text[at + 7] == 'P'); /* containerd: a full line, or a part */
    return part && text[at + 8] == ' ' ? at + 9 : part && text[at + 8] == '\0' ? at + 8 : at;
}

static void cut(struct clean_line *out, size_t len)
{
    out->len -= len;
    memmove(out->text, out->text + len, out->len + 1);
}

size_t clean_title_prefix(const struct clean_line *line)
{
    struct clean_line found = {0};
    const char *title = strstr(line->text, TRACEBACK_TITLE);
    for (const char *at = title; at && at > line->text; at--) {
        if (*at == '[' && at + bracket_prefix(at, &found) == title) {
            title = at;
        }
    }
    size_t len = title ? (size_t)(title - line->text) : 0;
    size_t end = len;
    while (end > 0 && line->text[end - 1] == ' ') {
        end--;
    }
    bool quoted = strncmp(line->text, "  traceback : ", 14) == 0; /* torchrun's block */
    return end > 0 && !quoted && strchr(":|])>-", line->text[end - 1]) ? len : 0;
}

static void find_rank(struct clean_line *out);

void clean_strip_prefix(struct clean_line *line, const char *prefix, size_t len)
{
    size_t i = 0;
    for (; i < len && i < line->len; i++) {
        bool digits = isdigit((unsigned char)prefix[i]) && isdigit((unsigned char)line->text[i]);
        if (!digits && prefix[i] != line->text[i]) {
            return;
        }
    }
    if (i + strspn(prefix + i, " ") < len) {
        return;
    }
    cut(line, i);
    strip_prefixes(line);
    if (line->rank < 0) {
        find_rank(line);
    }
}

bool clean_is_warning(const char *text)
{
    bool bracket = *text == '[';
    text += bracket;
    return (text[0] == 'W' && (isdigit((unsigned char)text[1]) || (bracket && text[1] == ' '))) ||
           strncmp(text, "WARNING", 7) == 0;
}

/* "Rank 3]" somewhere in the text. */
static void find_rank(struct clean_line *out)
{
    for (const char *at = strstr(out->text, "Rank "); at && out->rank < 0; at = strstr(at + 5, "Rank ")) {
        long number = 0;
        size_t digits = read_digits(at + 5, &number);
        if (digits > 0 && at[5 + digits] == ']') {
            out->rank = number;
        }
    }
}

static double glog_time(const char *at)
{
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    double second = 0;
    bool one_digit = strspn(at, "0123456789") == 3; /* "W902", as c10d has it */
    int read = one_digit ? sscanf(at, "%1d%2d %2d:%2d:%9lf", &month, &day, &hour, &minute, &second)
                         : sscanf(at, "%2d%2d %2d:%2d:%9lf", &month, &day, &hour, &minute, &second);
    if (read != 5) {
        return -1;
    }
    return (((month * 31.0 + day) * 24 + hour) * 60 + minute) * 60 + second;
}

static double date_time(const char *at)
{
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    double second = 0;
    if (sscanf(at, "%4d-%2d-%2d%*1[ _T]%2d:%2d:%9lf", &year, &month, &day, &hour, &minute, &second) != 6) {
        return -1;
    }
    return (((month * 31.0 + day) * 24 + hour) * 60 + minute) * 60 + second;
}

static bool is_glog_letter(char c)
{
    return c == 'E' || c == 'W' || c == 'I' || c == 'F';
}

double clean_time(const char *text)
{
    for (size_t i = 0; i < TIME_WITHIN && text[i] != '\0'; i++) {
        bool begins = i == 0 || !isalnum((unsigned char)text[i - 1]);
        if (!begins) {
            continue;
        }
        double time = -1;
        if (is_glog_letter(text[i]) && isdigit((unsigned char)text[i + 1])) {
            time = glog_time(text + i + 1);
        } else if (isdigit((unsigned char)text[i])) {
            time = date_time(text + i);
        }
        if (time >= 0) {
            return time;
        }
    }
    return -1;
}

void clean_line(const char *bytes, size_t len, struct clean_line *out)
{
    out->rank = out->local_rank = -1;
    out->prefixed = false;
    copy_plain(bytes, len, out);
    size_t stamp = stamp_len(out->text);
    out->time = stamp > 0 ? clean_time(out->text) : -1;
    cut(out, stamp);
    strip_prefixes(out);
    if (out->rank < 0) {
        find_rank(out);
    }
    if (stamp == 0) {
        out->time = clean_time(out->text);
    }
}
