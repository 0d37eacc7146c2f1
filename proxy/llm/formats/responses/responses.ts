// Responses of OpenAI.
import { isRecord } from '#api/json.ts'
import { asArray } from '../../json.ts'
import { type Format, messageOf } from '../format.ts'
import { OPENAI } from '../openai.ts'

export const responses: Format = {
  ...OPENAI,
  name: 'Responses',
  path: '/responses',
  /** Instructions stay apart; a text stands for one message of the user. */
  enrich(request, prepend, append) {
    const { input } = request
    const own = typeof input === 'string' ? [{ role: 'user', content: input }] : asArray(input)
    request['input'] = [...prepend.map(messageOf), ...own, ...append.map(messageOf)]
  },
  recognises: ({ object, response }) => object === 'response' || isRecord(response),
  lastEvent: /"response\.(?:completed|incomplete|failed)"/,
}
