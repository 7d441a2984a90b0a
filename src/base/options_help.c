/* Formats the help text of options (base/options.h). */
#include <string.h>

#include "base/options.h"
#include "base/text.h"

#define LEFT_MAX      30 /* an option longer than this has its text on the next line */
#define GAP           2
#define NARROW        50 /* below this width all texts are on separate lines */
#define NARROW_INDENT 8

/* "  -n, --lines LINES", "      --hostfile FILE" */
static void add_left(struct str *out, const struct option *option)
{
    if (option->letter != '\0') {
        str_addf(out, "  -%c, --%s", option->letter, option->name);
    } else {
        str_addf(out, "      --%s", option->name);
    }
    if (option->value) {
        str_addf(out, " %s", option->value);
    } else if (option->type == OPTION_CHOICE) {
        for (size_t i = 0; option->choices[i]; i++) {
            str_addf(out, "%s%s", i == 0 ? " " : "|", option->choices[i]);
        }
    }
}

static size_t left_columns(const struct option *option)
{
    AUTO_STR struct str left = STR_INIT;

    add_left(&left, option);
    return text_columns(str_text(&left));
}

/* The column where the texts begin. */
static size_t text_column(const struct option_group *const *groups, size_t columns)
{
    size_t widest = 0;

    if (columns < NARROW) {
        return NARROW_INDENT;
    }
    for (; *groups; groups++) {
        for (size_t i = 0; i < (*groups)->count; i++) {
            size_t width = left_columns(&(*groups)->options[i]);
            if ((*groups)->options[i].type != OPTION_UNBUILT && width <= LEFT_MAX && width > widest) {
                widest = width;
            }
        }
    }
    return widest + GAP;
}

static void add_blanks(struct str *out, size_t count)
{
    str_addf(out, "%*s", (int)count, "");
}

static void add_option(struct str *out, const struct option *option, size_t indent, size_t columns)
{
    size_t width = left_columns(option);

    add_left(out, option);
    if (width + GAP > indent) {
        str_add_char(out, '\n');
        width = 0;
    }
    add_blanks(out, indent - width);
    text_add_wrapped(out, option->help, indent, indent, columns);
}

void options_help(const struct option_group *const *groups, size_t columns, struct str *out)
{
    size_t indent = text_column(groups, columns);

    for (size_t g = 0; groups[g]; g++) {
        str_addf(out, "%s%s:\n", g == 0 ? "" : "\n", groups[g]->title);
        for (size_t i = 0; i < groups[g]->count; i++) {
            if (groups[g]->options[i].type != OPTION_UNBUILT) {
                add_option(out, &groups[g]->options[i], indent, columns);
            }
        }
    }
}
