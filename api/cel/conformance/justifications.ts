// Why a conformance case may fail: one reason for each group. A failing case without a reason stops the report.

const REASONS: readonly (readonly [prefix: string, reason: string])[] = [
  [
    'basic/functions/unbound',
    '**Unknown functions are refused when the text is compiled**, so that a typing mistake shows in the status of the policy; the suite expects an error at evaluation that `||` may absorb.',
  ],
  [
    'parse/receiver_function_names/',
    '**Unknown methods are refused when the text is compiled**, as unknown functions are. That reserved words parse as method names is what these cases test, and they do.',
  ],
  [
    'comparisons/gt_literal/not_gt_double',
    '**A double needs a digit before the point** in the parser library: write `0.99`.',
  ],
  [
    'fields/qualified_identifier_resolution/',
    '**Variables have simple names**: a variable called `a.b.c` does not exist here, so nothing is resolved by longest prefix.',
  ],
  ['namespace/', '**There are no containers**: names of variables are never looked up relative to a package.'],
  [
    'fields/quoted_map_fields/',
    '**Quoted selectors are not in the parser library.** Write `m["content-type"]`; for presence, `"content-type" in m`.',
  ],
  [
    'optionals/',
    '**Optional elements of list and map literals (`[?x]`, `{?k: v}`) are not in the parser library.** Optional selection, `orValue`, `optMap` and the other functions are complete.',
  ],
  [
    'parse/bytes_literals/',
    '**Raw bytes literals (`br"…"`) are not in the parser library.** Write `b"…"` with escapes.',
  ],
]

export function justificationOf(id: string): string {
  const found = REASONS.find(([prefix]) => id.startsWith(prefix))
  if (found === undefined) throw new Error(`${id} fails without a reason: add one to justifications.ts`)
  return found[1]
}
