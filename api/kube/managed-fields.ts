// Cuts the managed fields out of the JSON text of objects before it is parsed: they are half of the values of many
// objects, and a start with 100,000 objects reads none of them.
import { endOfString } from '../bounded-json.ts'

/** A key with a list, as the API server writes it. Inside a text the quotes have a backslash. */
const KEY = '"managedFields":['
const [QUOTE, OPEN, CLOSE] = [34, 91, 93]

/** The same JSON with empty lists. A text that ends within a list stays as it is. */
export function withoutManagedFields(text: string): string {
  let at = text.indexOf(KEY)
  if (at === -1) return text
  let kept = ''
  let from = 0
  while (at !== -1) {
    const end = endOfList(text, at + KEY.length)
    if (end === -1) break
    kept += text.slice(from, at + KEY.length)
    from = end
    at = text.indexOf(KEY, end)
  }
  return kept + text.slice(from)
}

/** The place of the bracket that closes the list; -1: the text ends within the list. */
function endOfList(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN) depth++
    else if (code === CLOSE && --depth === 0) return at
  }
  return -1
}
