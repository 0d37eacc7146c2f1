// Ranking documents, in the form of Cohere's API of version 2.
import { asArray, asCount, asObject } from '../json.ts'
import { addReport, EMPTY_REPORT } from '../usage.ts'
import type { Format } from './format.ts'
import { OPENAI } from './openai.ts'

export const rerank: Format = {
  ...OPENAI,
  name: 'Rerank',
  path: '/rerank',
  usesRerankHost: true,
  /** Services in the style of OpenAI have `usage`. Searches, which Cohere bills, are not tokens. */
  observe(facts, answer) {
    OPENAI.observe(facts, answer)
    const { tokens, billed_units: billed } = asObject(answer['meta'])
    const { input_tokens: input, output_tokens: output } = asObject(tokens ?? billed)
    if (typeof input !== 'number' && typeof output !== 'number') return
    addReport(facts, { ...EMPTY_REPORT, input: asCount(input), output: asCount(output) })
  },
  recognises: ({ results }) => asObject(asArray(results)[0])['relevance_score'] !== undefined,
}
