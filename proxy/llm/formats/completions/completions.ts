// Chat completions of OpenAI.
import { asArray, asObject, asString } from '../../json.ts'
import { type Format, messageOf } from '../format.ts'
import { OPENAI } from '../openai.ts'

export const completions: Format = {
  ...OPENAI,
  name: 'Completions',
  path: '/chat/completions',
  enrich(request, prepend, append) {
    request['messages'] = [...prepend.map(messageOf), ...asArray(request['messages']), ...append.map(messageOf)]
  },
  wantsUsage: (request) => asObject(request['stream_options'])['include_usage'] === true,
  askForUsage(request) {
    if (completions.wantsUsage(request)) return
    request['stream_options'] = { ...asObject(request['stream_options']), include_usage: true }
  },
  recognises: ({ choices }) => Array.isArray(choices),
  hasContent: (event) =>
    asArray(event['choices']).some((choice) => {
      const delta = asObject(asObject(choice)['delta'])
      return (asString(delta['content']) ?? '') !== '' || asArray(delta['tool_calls']).length > 0
    }),
  lastEvent: /^\[DONE\]$/,
}
