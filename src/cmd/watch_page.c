/* Handles the keys of `status --watch`. */
#include "base/alloc.h"
#include "base/keys.h"
#include "watch_page_internal.h"

#define NUMBER_MAX 1000000

static size_t last_top(size_t lines, size_t room)
{
    return lines > room ? lines - room : 0;
}

void watch_place_fit(struct watch_place *place, size_t lines, size_t room)
{
    size_t *top = &place->top[place->page];
    const size_t last = last_top(lines, room);
    if (*top > last || (place->page == WATCH_LOG && place->follows)) {
        *top = last;
    }
}

/* --- scrolling ---------------------------------------------------------------------------------- */

enum scroll { LINE_UP, LINE_DOWN, PAGE_UP, PAGE_DOWN, TO_START, TO_END };

static const struct {
    int key;
    enum scroll scroll;
} scrolls[] = {
    {KEY_UP, LINE_UP},      {'k', LINE_UP},  {KEY_DOWN, LINE_DOWN},      {'j', LINE_DOWN},
    {KEY_PAGE_UP, PAGE_UP}, {'b', PAGE_UP},  {KEY_PAGE_DOWN, PAGE_DOWN}, {' ', PAGE_DOWN},
    {KEY_HOME, TO_START},   {'g', TO_START}, {KEY_END, TO_END},          {'G', TO_END},
};

static size_t scrolled(enum scroll scroll, size_t top, size_t last, size_t room)
{
    const size_t page = room > 1 ? room - 1 : 1; /* one line stays visible */
    switch (scroll) {
    case LINE_UP:
        return top > 0 ? top - 1 : 0;
    case LINE_DOWN:
        return top + 1;
    case PAGE_UP:
        return top > page ? top - page : 0;
    case PAGE_DOWN:
        return top + page;
    case TO_START:
        return 0;
    case TO_END:
        break;
    }
    return last;
}

static bool is_downward(enum scroll scroll)
{
    return scroll == LINE_DOWN || scroll == PAGE_DOWN || scroll == TO_END;
}

static bool scroll_by(struct watch_place *place, int key, size_t lines, size_t room)
{
    for (size_t i = 0; i < ARRAY_LEN(scrolls); i++) {
        if (scrolls[i].key == key) {
            size_t *top = &place->top[place->page];
            const size_t last = last_top(lines, room);
            size_t to = scrolled(scrolls[i].scroll, *top, last, room);
            *top = to < last ? to : last;
            /*
             * Scrolled down to the end, it follows the log. Scrolled up, it stays there even if everything
             * fits.
             */
            place->follows = is_downward(scrolls[i].scroll) && *top == last;
            return true;
        }
    }
    return false;
}

/* --- pages -------------------------------------------------------------------------------------- */

static enum watch_action show_log(struct watch_place *place, size_t node)
{
    if (node >= place->nodes) {
        return WATCH_NO_SUCH_NODE;
    }
    place->page = WATCH_LOG;
    place->node = node;
    place->follows = true;
    return WATCH_SHOW_LOG;
}

static enum watch_action page_key(struct watch_place *place, int key, bool has_number)
{
    switch (key) {
    case 'l':
        return show_log(place, has_number ? place->number : place->node);
    case KEY_ENTER:
        return has_number ? show_log(place, place->number) : WATCH_NOTHING;
    case KEY_RIGHT:
        return place->page == WATCH_LOG ? show_log(place, (place->node + 1) % place->nodes) : WATCH_NOTHING;
    case KEY_LEFT:
        return place->page == WATCH_LOG ? show_log(place, (place->node + place->nodes - 1) % place->nodes)
                                        : WATCH_NOTHING;
    case 's':
        place->page = WATCH_STACKS;
        place->top[WATCH_STACKS] = 0;
        return WATCH_READ_STACKS;
    default:
        return WATCH_NOTHING;
    }
}

enum watch_action watch_place_key(struct watch_place *place, int key, size_t lines, size_t room)
{
    const bool has_number = place->has_number;
    if (key >= '0' && key <= '9' && place->has_pages) {
        place->number = (has_number ? place->number * 10 : 0) + (size_t)(key - '0');
        place->number = place->number < NUMBER_MAX ? place->number : NUMBER_MAX;
        place->has_number = true;
        return WATCH_NOTHING;
    }
    place->has_number = false;
    if (key == 'q') {
        return WATCH_QUIT;
    }
    if (key == KEY_ESCAPE || key == KEY_BACK) {
        const bool back = !has_number && place->page != WATCH_STATUS;
        place->page = back ? WATCH_STATUS : place->page;
        return back ? WATCH_BACK : WATCH_NOTHING;
    }
    if (scroll_by(place, key, lines, room)) {
        return WATCH_NOTHING;
    }
    return place->has_pages && place->nodes > 0 ? page_key(place, key, has_number) : WATCH_NOTHING;
}
