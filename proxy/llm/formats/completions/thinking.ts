// Reasoning in chat completions. The format of OpenAI has none; providers of open models send `reasoning_content`.
// Reasoning that its vendor demands back with a signature also stands in `thinking_blocks`, each a block of the
// messages format whose signature may be of another vendor (canonical/carrier.ts).
import { carriedSignature, carriedText } from '../../canonical/carrier.ts'
import type { FoldedPart } from '../../canonical/fold.ts'
import type { FieldPath, ReasoningPart, Signature } from '../../canonical/request.ts'
import { asArray, asObject, asString, type JsonObject } from '../../json.ts'

/** `thinking_blocks` has precedence: it holds the same texts, with their signatures. */
export function decodeReasoning(message: JsonObject, path: FieldPath): ReasoningPart[] {
  const blocks = asArray(message['thinking_blocks'])
  if (blocks.length > 0) return blocks.map((block, at) => partOf(asObject(block), `${path}.thinking_blocks[${at}]`))
  const text = reasoningText(message)
  if (text === '') return []
  return [{ kind: 'reasoning', at: `${path}.reasoning_content`, text, signature: undefined, isSummary: false }]
}

/** Of a message or a delta; some providers spell it `reasoning`. */
export function reasoningText(message: JsonObject): string {
  return asString(message['reasoning_content']) ?? asString(message['reasoning']) ?? ''
}

function partOf(block: JsonObject, at: FieldPath): ReasoningPart {
  const signature = asString(block['signature']) ?? ''
  return {
    kind: 'reasoning',
    at,
    text: asString(block['thinking']) ?? '',
    signature: signature === '' ? undefined : carriedSignature(signature, 'Completions'),
    isSummary: false,
  }
}

export function thinkingBlock(text: string, signature: Signature): JsonObject {
  return { type: 'thinking', thinking: text, signature: carriedText(signature, 'Completions') }
}

/** `thinking_blocks` of a whole answer; undefined if no reasoning has a signature. */
export function thinkingBlocks(parts: readonly FoldedPart[]): readonly JsonObject[] | undefined {
  const blocks = parts.flatMap((part) =>
    part.kind === 'reasoning' && part.signature !== undefined ? [thinkingBlock(part.text, part.signature)] : [],
  )
  return blocks.length === 0 ? undefined : blocks
}
