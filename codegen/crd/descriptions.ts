// Shortens repeated descriptions of a CRD. One shape can stand at several places of a kind, because CRDs have no
// references: the shallowest place keeps the full text, the others keep its first sentence and name that place.
import type { Json, SchemaNode } from '../schema/node.ts'

const TELLS_DEFAULT = /\b(?:unset|defaults?)\b/i

/** Below this gain the full text stays. */
const GAIN_MIN = 20

/** Changes `root`. Only descriptions differ afterwards. */
export function shortenDescriptions(root: SchemaNode): void {
  const firstPlaces = new Map<string, string>()
  let level: DescribedNode[] = [{ node: root, path: '' }]
  while (level.length > 0) {
    for (const { node, path } of level) {
      if (node.description === undefined) continue
      const text = unwrapped(node.description)
      const first = firstPlaces.get(text)
      if (first === undefined) firstPlaces.set(text, path)
      node.description = first === undefined ? text : shortened(text, node, first)
    }
    level = level.flatMap(placesBelow)
  }
}

interface DescribedNode {
  readonly node: SchemaNode
  /** As `kubectl explain` takes it: items and values of maps have no name. */
  readonly path: string
}

function placesBelow({ node, path }: DescribedNode): DescribedNode[] {
  const below = Object.entries(node.properties ?? {}).map(([name, child]) => {
    return { node: child, path: path === '' ? name : `${path}.${name}` }
  })
  if (node.items !== undefined) below.push({ node: node.items, path })
  if (typeof node.additionalProperties === 'object') below.push({ node: node.additionalProperties, path })
  return below
}

/** One line a paragraph: readers wrap the text themselves. Lists keep their lines. */
function unwrapped(text: string): string {
  return text.trim().replaceAll(/(?<!\n)\n(?!\n|\s*[-*] |\s*\d+\. )/g, ' ')
}

/** The first sentence, and what happens without the field. */
function shortened(text: string, node: SchemaNode, first: string): string {
  const [head = '', ...rest] = sentencesOf(text)
  const fallback = rest.find((sentence) => TELLS_DEFAULT.test(sentence) && !sentence.startsWith('Example:'))
  const kept = [head, ...(fallback === undefined ? [] : [fallback]), `See ${first}.`].join(' ')
  const tellsDefault = node.default === undefined || mentions(kept, node.default)
  return tellsDefault && kept.length + GAIN_MIN <= text.length ? kept : text
}

function mentions(text: string, value: Json): boolean {
  return TELLS_DEFAULT.test(text) || (typeof value !== 'object' && text.includes(String(value)))
}

/** Neither code spans nor `e.g.` end a sentence. */
function sentencesOf(text: string): string[] {
  const sentences = text.match(/(?:`[^`]*`|[^`])*?(?:(?<!\be\.g|\bi\.e)[.?!](?=\s|$)|\n\n|$)\s*/gs) ?? []
  return sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== '')
}
