// A model with images and audio, for their fields in logs.
import { createServer, type Server } from 'node:http'

/** Always reports the tokens for each kind of content. */
export function mediaServer(): Server {
  const input = { text_tokens: 1, image_tokens: 2, audio_tokens: 3 }
  const output = { text_tokens: 4, image_tokens: 5, audio_tokens: 6 }
  const usage = { prompt_tokens: 6, completion_tokens: 15, total_tokens: 21 }
  const details = { prompt_tokens_details: input, completion_tokens_details: output }
  const answer = { model: 'demo-1', service_tier: 'default', usage: { ...usage, ...details } }
  return createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
}
