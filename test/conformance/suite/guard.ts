// The prompt guard of the samples: replaces `secret` by `***`, rejects texts with `weapon`, and has an invalid answer
// for `broken`. It writes the user and the tenant of the header fields in place of `who am I`.
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { asArray, asObject, asString, parseObject } from '#proxy/llm/json.ts'

export const guard: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = asObject(parseObject(Buffer.concat(chunks).toString('utf8'))?.['body'])
    const texts = [
      ...asArray(body['messages']).map(asObject),
      ...asArray(body['choices']).map((choice) => asObject(asObject(choice)['message'])),
    ].map(({ content }) => asString(content) ?? '')
    const isResponse = Object.hasOwn(body, 'choices')
    response.writeHead(200, { 'content-type': 'application/json' })
    if (texts.some((text) => text.includes('broken'))) response.end('not JSON')
    else response.end(JSON.stringify({ action: actionFor(texts, isResponse, request.headers) }))
  })
}

function actionFor(texts: readonly string[], isResponse: boolean, headers: IncomingHttpHeaders): object {
  if (texts.some((text) => text.includes('weapon'))) return { body: 'not about weapons', status_code: 451 }
  const { 'x-user': user = '', 'x-tenant': tenant = '' } = headers
  const masks = texts.map((text) =>
    text.replaceAll('secret', '***').replace('who am I', `${String(user)} of ${String(tenant)}`),
  )
  if (masks.every((mask, index) => mask === texts[index])) return { reason: 'nothing found' }
  const messages = masks.map((content) => ({ content }))
  return { body: isResponse ? { choices: messages.map((message) => ({ message })) } : { messages } }
}
