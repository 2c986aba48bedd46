/* SPDX-License-Identifier: Apache-2.0
 *
 * Search trees with links inside the nodes: treaps, with a hash of a node's address as its
 * priority, so that a tree of n nodes is about 2 log2(n) deep in any order of insertion and a node
 * needs two links and nothing else. No recursion, no parent link, no memory of its own, no lock.
 * VS_TREAP defines the functions for one kind of node. */
#ifndef VS_TREAP_H
#define VS_TREAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not every user needs every function. */
#define VS_TREAP_FUNCTION __attribute__((unused)) static inline
/* On hot paths, with parts of the key known to the compiler. */
#define VS_TREAP_INLINE __attribute__((unused, always_inline)) static inline

/* VS_TREAP: functions for trees of *node*, linked by *link* (a pointer, or a number that
 * stands for one; 0 is no node), ordered by comparison with a *key*. The includer has
 * defined, for the prefix *name*:
 *   node *name_node(link), link name_link(node *), link *name_left(node *), *name_right(node *);
 *   uint64_t name_address(const node *): another for each node of a tree;
 *   bool name_before(const node *, key): does the node lie before the key?
 * A tree is a link, 0 at first. The functions:
 *   name_priority     of a node: no child's is higher than its parent's
 *   name_split        nodes before *at* go into *low*, the others into *high*
 *   name_merge        one tree of two, all of *low* before all of *high*
 *   name_insert       a node that is in no tree, with the key that it has
 *   name_remove       a node that is in the tree
 *   name_first_from   the first node that does not lie before *at*; NULL when none
 *   name_last_before  the last node that does
 *   name_check        for tests: is it a heap, and is every node *good*, in order? *last*: the
 *                     node before, NULL at first */
#define VS_TREAP(name, node, link, key)                                                           \
    VS_TREAP_FUNCTION uint64_t name##_priority(const node *n)                                     \
    {                                                                                             \
        uint64_t address = name##_address(n);                                                     \
        return (address ^ (address >> 29)) * UINT64_C(0x9e3779b97f4a7c15);                        \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_INLINE void name##_split(link tree, key at, link *low, link *high)                   \
    {                                                                                             \
        for (node *n; (n = name##_node(tree));) {                                                 \
            if (name##_before(n, at)) {                                                           \
                *low = tree;                                                                      \
                low = name##_right(n);                                                            \
                tree = *low;                                                                      \
            } else {                                                                              \
                *high = tree;                                                                     \
                high = name##_left(n);                                                            \
                tree = *high;                                                                     \
            }                                                                                     \
        }                                                                                         \
        *low = *high = 0;                                                                         \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_INLINE link name##_merge(link low, link high)                                        \
    {                                                                                             \
        if (!low || !high)                                                                        \
            return low ? low : high;                                                              \
        link tree;                                                                                \
        link *end = &tree;                                                                        \
        node *a = name##_node(low), *b = name##_node(high);                                       \
        while (a && b) {                                                                          \
            if (name##_priority(a) >= name##_priority(b)) {                                       \
                *end = low;                                                                       \
                end = name##_right(a);                                                            \
                low = *end;                                                                       \
                a = name##_node(low);                                                             \
            } else {                                                                              \
                *end = high;                                                                      \
                end = name##_left(b);                                                             \
                high = *end;                                                                      \
                b = name##_node(high);                                                            \
            }                                                                                     \
        }                                                                                         \
        *end = a ? low : high;                                                                    \
        return tree;                                                                              \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_INLINE void name##_insert(link *tree, node *added, key at)                           \
    {                                                                                             \
        uint64_t mine = name##_priority(added);                                                   \
        for (node *n; (n = name##_node(*tree)) && name##_priority(n) >= mine;)                    \
            tree = name##_before(n, at) ? name##_right(n) : name##_left(n);                       \
        name##_split(*tree, at, name##_left(added), name##_right(added));                         \
        *tree = name##_link(added);                                                               \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_INLINE void name##_remove(link *tree, node *removed, key at)                         \
    {                                                                                             \
        for (node *n; (n = name##_node(*tree)) != removed;)                                       \
            tree = name##_before(n, at) ? name##_right(n) : name##_left(n);                       \
        *tree = name##_merge(*name##_left(removed), *name##_right(removed));                      \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_FUNCTION node *name##_first_from(link tree, key at)                                  \
    {                                                                                             \
        node *found = NULL;                                                                       \
        for (node *n; (n = name##_node(tree));) {                                                 \
            bool before = name##_before(n, at);                                                   \
            found = before ? found : n;                                                           \
            tree = before ? *name##_right(n) : *name##_left(n);                                   \
        }                                                                                         \
        return found;                                                                             \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_FUNCTION node *name##_last_before(link tree, key at)                                 \
    {                                                                                             \
        node *found = NULL;                                                                       \
        for (node *n; (n = name##_node(tree));) {                                                 \
            bool before = name##_before(n, at);                                                   \
            found = before ? n : found;                                                           \
            tree = before ? *name##_right(n) : *name##_left(n);                                   \
        }                                                                                         \
        return found;                                                                             \
    }                                                                                             \
                                                                                                  \
    VS_TREAP_FUNCTION bool name##_check(                                                          \
        link tree, bool (*good)(void *ctx, const node *n, const node *last), void *ctx,           \
        const node **last)                                                                        \
    {                                                                                             \
        node *n = name##_node(tree);                                                              \
        if (!n)                                                                                   \
            return true;                                                                          \
        const node *left = name##_node(*name##_left(n)), *right = name##_node(*name##_right(n));  \
        if ((left && name##_priority(left) > name##_priority(n)) ||                               \
            (right && name##_priority(right) > name##_priority(n)) ||                             \
            !name##_check(*name##_left(n), good, ctx, last) || !good(ctx, n, *last))              \
            return false;                                                                         \
        *last = n;                                                                                \
        return name##_check(*name##_right(n), good, ctx, last);                                   \
    }

/* VS_TREAP_BY: the same for nodes of *type* that are linked by pointers, left and right, and
 * ordered by the number *field*. */
#define VS_TREAP_BY(name, type, field)                                                            \
    VS_TREAP_FUNCTION type *name##_node(type *n) { return n; }                                    \
    VS_TREAP_FUNCTION type *name##_link(type *n) { return n; }                                    \
    VS_TREAP_FUNCTION type **name##_left(type *n) { return &n->left; }                            \
    VS_TREAP_FUNCTION type **name##_right(type *n) { return &n->right; }                          \
    VS_TREAP_FUNCTION uint64_t name##_address(const type *n) { return n->field; }                 \
    VS_TREAP_FUNCTION bool name##_before(const type *n, uint64_t at) { return n->field < at; }    \
    VS_TREAP(name, type, type *, uint64_t)

#endif
