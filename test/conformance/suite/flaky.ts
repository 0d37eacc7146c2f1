// Server of the samples that rejects the first try of every request and serves retries.
import type { RequestListener } from 'node:http'

export const flaky: RequestListener = (request, response) => {
  const attempt = request.headers['x-retry-attempt'] ?? '0'
  request.resume()
  response.writeHead(attempt === '0' ? 503 : 200, { 'content-type': 'text/plain' })
  response.end(attempt === '0' ? 'refused on try 0' : `served on try ${String(attempt)}`)
}
