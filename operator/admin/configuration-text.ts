// A rendered configuration as JSON without credentials, in pieces between which the thread does other work.
import { setImmediate } from 'node:timers/promises'
import { redactTree } from '#api/credentials/redact-tree.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'

/** Some milliseconds of work. */
const ITEMS_OF_PIECE = 128

export async function* configurationText(config: RenderedConfig): AsyncGenerator<string> {
  let head = '{'
  for (const [name, value] of Object.entries(config)) {
    if (value === undefined) continue
    yield `${head}${JSON.stringify(name)}:`
    if (Array.isArray(value)) yield* listText(value)
    else yield JSON.stringify(redactTree<unknown>(value))
    head = ','
  }
  yield head === '{' ? '{}' : '}'
}

async function* listText(items: readonly unknown[]): AsyncGenerator<string> {
  yield '['
  for (let i = 0; i < items.length; i += ITEMS_OF_PIECE) {
    if (i > 0) yield ','
    const piece = JSON.stringify(redactTree(items.slice(i, i + ITEMS_OF_PIECE)))
    yield piece.slice(1, -1)
    await setImmediate()
  }
  yield ']'
}
