/* What is pushed, cut into pieces: all of it once, in order, the same at every reading. */
#include "node/copy.h"
#include "run/push_libarchive_internal.h"
#include "run/push_pieces_internal.h"
#include "test.h"

#define PIECE (8u << 20)

static void add_file(const char *folder, const char *name, size_t size)
{
    AUTO_FREE char *path = xasprintf("%s/%s", folder, name);
    AUTO_FREE char *bytes = xcalloc(1, size + 1);
    struct error err = ERROR_INIT;

    memset(bytes, name[0], size);
    assert_int_equal(file_write_atomic(path, bytes, size, 0644, &err), 0);
}

/* A folder with these files, opened as a source; pieces of all that is in it. */
struct room {
    char *folder;
    struct push_source source;
    struct push_pieces pieces;
};

static void open_room(struct room *room)
{
    AUTO_STRLIST struct strlist sources = STRLIST_INIT, nothing = STRLIST_INIT;
    struct error err = ERROR_INIT;

    strlist_addf(&sources, "%s/", room->folder);
    assert_int_equal(push_source_open(&room->source, &sources, &nothing, true, &err), 0);
    size_t *entries = xcalloc(room->source.tree.len + 1, sizeof(*entries));
    for (size_t i = 0; i < room->source.tree.len; i++) {
        entries[i] = i;
    }
    push_pieces_init(&room->pieces, &room->source, entries, room->source.tree.len);
}

static void close_room(struct room *room)
{
    push_pieces_release(&room->pieces);
    push_source_release(&room->source);
    remove_tree(room->folder);
}

static void read_piece(struct room *room, size_t index, struct str *out)
{
    struct push_piece_reader reader;
    AUTO_STR struct str part = STR_INIT;
    bool more = true;

    push_piece_begin(&reader, &room->pieces, index);
    while (more) {
        str_reset(&part);
        more = push_piece_fill(&reader, &part);
        str_add_mem(out, part.data, part.len);
    }
    push_piece_release(&reader);
}

static void test_large_files_are_cut(void **state)
{
    struct room room = {.folder = make_tree()};
    AUTO_STR struct str all = STR_INIT;
    uint64_t bytes = 0;

    (void)state;
    add_file(room.folder, "a", 100);
    add_file(room.folder, "b", 2 * PIECE + 5);
    add_file(room.folder, "c", PIECE);
    add_file(room.folder, "d", 0);
    add_file(room.folder, "e", 100);
    open_room(&room);
    assert_int_equal(room.pieces.len, 6); /* a; b, b, b; c and d; e */
    for (size_t i = 0; i < room.pieces.len; i++) {
        AUTO_STR struct str piece = STR_INIT;
        read_piece(&room, i, &piece);
        assert_int_equal(piece.len, room.pieces.items[i].length);
        assert_int_equal(piece.len % NODE_COPY_RECORD, 0);
        bytes += room.pieces.items[i].bytes;
        if (room.pieces.items[i].is_part) {
            str_add_mem(&all, piece.data, (size_t)room.pieces.items[i].bytes);
        }
    }
    assert_int_equal(bytes, 100 + 2 * PIECE + 5 + PIECE + 100);
    assert_int_equal(all.len, 2 * PIECE + 5);
    for (size_t i = 0; i < all.len; i++) {
        assert_true(all.data[i] == 'b');
    }
    assert_true(room.pieces.items[3].is_last && !room.pieces.items[2].is_last);
    close_room(&room);
}

static void test_sums_are_those_of_the_bytes(void **state)
{
    struct room room = {.folder = make_tree()};

    (void)state;
    add_file(room.folder, "a", 3000);
    add_file(room.folder, "b", PIECE + 1);
    open_room(&room);
    for (size_t i = 0; i < room.pieces.len; i++) {
        for (size_t kind = 0; kind < PUSH_SUM_KINDS; kind++) {
            AUTO_STR struct str piece = STR_INIT;
            struct push_sum *sum = push_sum_new((enum push_sum_kind)kind);
            char text[65];
            read_piece(&room, i, &piece);
            push_sum_add(sum, piece.data, piece.len);
            push_sum_end(sum, text);
            assert_string_equal(text, push_pieces_sum(&room.pieces, i, (enum push_sum_kind)kind));
        }
    }
    close_room(&room);
}

static void test_what_changes_is_torn(void **state)
{
    struct room room = {.folder = make_tree()};
    AUTO_FREE char *path = xasprintf("%s/b", room.folder);

    (void)state;
    add_file(room.folder, "a", 3000);
    add_file(room.folder, "b", 2 * PIECE);
    open_room(&room);
    assert_int_equal(truncate(path, PIECE + 77), 0);
    for (size_t i = 0; i < room.pieces.len; i++) {
        AUTO_STR struct str piece = STR_INIT;
        read_piece(&room, i, &piece);
        assert_int_equal(piece.len, room.pieces.items[i].length); /* whole, all the same */
    }
    assert_true(!room.pieces.torn[0] && room.pieces.torn[1]);
    close_room(&room);
}

static int set_up(void **state)
{
    (void)state;
    return archive_load(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_files_are_cut),
        cmocka_unit_test(test_sums_are_those_of_the_bytes),
        cmocka_unit_test(test_what_changes_is_torn),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
