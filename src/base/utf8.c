/* Decodes UTF-8 and knows the terminal width of characters. */
#include <stdbool.h>

#include "base/alloc.h"
#include "utf8_internal.h"

/* First bytes and the range of the second byte: Unicode 15, table 3-7 (well-formed sequences). */
static const struct {
    unsigned char first_low, first_high, second_low, second_high, len;
} forms[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
    {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
    {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

uint32_t utf8_read(const char *bytes, size_t len, size_t *used)
{
    const unsigned char *p = (const unsigned char *)bytes;

    *used = 1;
    if (p[0] < 0x80) {
        return p[0];
    }

    size_t form = 0;
    while (form < ARRAY_LEN(forms) && (p[0] < forms[form].first_low || p[0] > forms[form].first_high)) {
        form++;
    }
    if (form == ARRAY_LEN(forms)) {
        return UTF8_INVALID;
    }

    uint32_t character = p[0] & (0x7FU >> forms[form].len);
    size_t i = 1;
    for (; i < forms[form].len && i < len; i++) {
        unsigned char low = i == 1 ? forms[form].second_low : 0x80;
        unsigned char high = i == 1 ? forms[form].second_high : 0xBF;
        if (p[i] < low || p[i] > high) {
            break;
        }
        character = character << 6 | (p[i] & 0x3FU);
    }
    *used = i;
    return i == forms[form].len ? character : UTF8_INVALID;
}

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count && ranges[i].first <= character; i++) {
        if (character <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Combining marks and format characters: the blocks that contain nothing else (Unicode 15, Mn, Me and Cf). */
static const struct range zero_width[] = {
    {0x0300, 0x036F},   {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x1AB0, 0x1ACE},   {0x1DC0, 0x1DFF},   {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
    {0x2066, 0x206F},   {0x20D0, 0x20F0},   {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    {0xE0001, 0xE007F}, {0xE0100, 0xE01EF},
};

/* East Asian Wide and Fullwidth (Unicode 15, EastAsianWidth.txt), neighbouring blocks joined. */
static const struct range wide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18D08}, {0x1AFF0, 0x1B2FB}, {0x1F300, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
    {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3E0, 0x1F3F0}, {0x1F400, 0x1F43E}, {0x1F440, 0x1F440},
    {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F550, 0x1F567}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5},
    {0x1F6D0, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

size_t utf8_columns(uint32_t character)
{
    if (in_ranges(character, zero_width, ARRAY_LEN(zero_width))) {
        return 0;
    }
    return in_ranges(character, wide, ARRAY_LEN(wide)) ? 2 : 1;
}
