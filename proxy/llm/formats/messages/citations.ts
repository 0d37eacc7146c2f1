// Citations in texts of the messages format.
import type { Citation } from '../../canonical/request.ts'
import { asObject, asString, type JsonObject } from '../../json.ts'

export function decodeCitation(value: unknown): Citation {
  const citation = asObject(value)
  return {
    url: asString(citation['url']),
    title: asString(citation['title']) ?? asString(citation['document_title']),
    quote: asString(citation['cited_text']),
    // Offsets of this format are in the document, not in the text.
    start: undefined,
    end: undefined,
    original: { format: 'Messages', value: citation },
  }
}

/** Of other formats: those with a URL, as results of a web search. */
export function encodeCitations(citations: readonly Citation[]): readonly JsonObject[] {
  return citations.flatMap(({ original, url, title, quote }) => {
    if (original?.format === 'Messages') return [original.value]
    if (url === undefined) return []
    return [
      { type: 'web_search_result_location', url, title: title ?? null, cited_text: quote ?? '', encrypted_index: '' },
    ]
  })
}
