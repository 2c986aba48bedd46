/* SPDX-License-Identifier: Apache-2.0 */
#include "base/steps/vs_schedule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The number at *text*, and the text behind it; NULL if there is none, or more than ten digits. */
static const char *number_at(const char *text, uint64_t *number)
{
    char *end;
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 10)
        return NULL;
    *number = strtoull(text, &end, 10);
    return end;
}

static enum vs_err parse_cycle(const char *text, struct vs_schedule *s)
{
    const struct {
        const char *name;
        uint64_t *value;
    } words[] = {{"skip_first=", &s->skip_first}, {"wait=", &s->wait}, {"warmup=", &s->warmup},
                 {"active=", &s->active}, {"repeat=", &s->repeat}};
    unsigned seen = 0;
    do {
        size_t i = 0, count = sizeof words / sizeof *words;
        while (i < count && strncmp(text, words[i].name, strlen(words[i].name)) != 0)
            i++;
        if (i == count || (seen >> i & 1) || !(text = number_at(text + strlen(words[i].name), words[i].value)))
            return VS_ERR_ARG;
        seen |= 1u << i;
    } while (*text == ',' && text++);
    return *text || !s->active ? VS_ERR_ARG : VS_OK;
}

enum vs_err vs_schedule_parse(const char *text, struct vs_schedule *schedule)
{
    struct vs_schedule s = {.given = *text != 0, .active = 1};
    if (isdigit((unsigned char)*text)) {
        s.numbered = true;
        text = number_at(text, &s.first);
        s.last = s.first;
        if (text && *text == '-')
            text = number_at(text + 1, &s.last);
        if (!text || *text || s.last < s.first)
            return VS_ERR_ARG;
    } else if (*text && parse_cycle(text, &s)) {
        return VS_ERR_ARG;
    }
    *schedule = s;
    return VS_OK;
}

enum vs_schedule_part vs_schedule_at(const struct vs_schedule *s, uint64_t number, uint64_t index)
{
    if (s->numbered)
        return number >= s->first && number <= s->last ? VS_SCHEDULE_ON
               : number + 1 == s->first                ? VS_SCHEDULE_WARM
                                                       : VS_SCHEDULE_OFF;
    uint64_t cycle = s->wait + s->warmup + s->active;
    if (index < s->skip_first || (s->repeat && (index - s->skip_first) / cycle >= s->repeat))
        return VS_SCHEDULE_OFF;
    uint64_t at = (index - s->skip_first) % cycle;
    return at < s->wait ? VS_SCHEDULE_OFF : at < s->wait + s->warmup ? VS_SCHEDULE_WARM : VS_SCHEDULE_ON;
}
