// Cost of the four head operations of one proxied request, without sockets: parse and write, request and response.
//
//   node proxy/http/bench/heads.ts
import { DEFAULT_LIMITS } from '../handler.ts'
import { requestHeadText, responseHeadText } from '../../message/head-text.ts'
import { parseRequestHead, RequestParser } from '../request-parser.ts'
import { parseResponseHead, ResponseParser } from '../response-parser.ts'

const RUNS = 300_000

const REQUESTS = {
  'wrk (2 fields)': 'GET / HTTP/1.1\r\nHost: localhost:9902\r\nUser-Agent: wrk\r\n\r\n',
  'browser (12 fields)':
    'GET /assets/app.js?v=12 HTTP/1.1\r\nHost: shop.example.com\r\nConnection: keep-alive\r\n' +
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ' +
    'Chrome/140.0 Safari/537.36\r\n' +
    'Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n' +
    'Referer: https://shop.example.com/\r\nSec-Fetch-Dest: script\r\nSec-Fetch-Mode: no-cors\r\n' +
    'Sec-Fetch-Site: same-origin\r\nCookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\nDNT: 1\r\n\r\n',
} as const
const RESPONSE =
  'HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 09:00:00 GMT\r\nContent-Type: text/plain\r\n' +
  'Content-Length: 34\r\nConnection: keep-alive\r\n\r\n'

function measure(name: string, run: () => unknown): void {
  for (let i = 0; i < RUNS / 3; i++) run()
  const start = process.cpuUsage()
  for (let i = 0; i < RUNS; i++) run()
  const { user, system } = process.cpuUsage(start)
  console.log(`${name.padEnd(40)} ${Math.round(((user + system) * 1000) / RUNS)} ns`)
}

for (const [name, text] of Object.entries(REQUESTS)) {
  const bytes = Buffer.from(text, 'latin1')
  const parser = new RequestParser('http')
  const parse = (): ReturnType<RequestParser['feed']> =>
    parser.feed(bytes, { start: 0, end: bytes.length }, DEFAULT_LIMITS)
  measure(`parse request, first time: ${name}`, () => parseRequestHead(text, DEFAULT_LIMITS, 'http'))
  measure(`parse request, repeated: ${name}`, parse)
  const head = parse()
  if (head === undefined || 'code' in head) throw new Error('sample does not parse')
  const { method, pathAndQuery, headers, host } = head.request
  measure(`write request: ${name}`, () => {
    const text2 = requestHeadText({
      method,
      pathAndQuery,
      authority: host,
      headers,
      framing: 'None',
      upgrade: undefined,
    })
    return Buffer.byteLength(text2 ?? '', 'latin1')
  })
}
const bytes = Buffer.from(RESPONSE, 'latin1')
const parser = new ResponseParser({ headersMax: 100, headerBytesMax: 65_536 })
const asked = { isHead: false, preservesCase: false }
measure('parse response, first time', () => parseResponseHead(RESPONSE, { ...asked, headersMax: 100 }))
measure('parse response, repeated', () => parser.feed(bytes, { start: 0, end: bytes.length }, asked))
const head = parser.feed(bytes, { start: 0, end: bytes.length }, asked)
if (head === undefined || 'code' in head) throw new Error('sample does not parse')
measure('write response', () =>
  responseHeadText({
    status: head.status,
    headers: head.headers,
    framing: 34,
    connection: undefined,
    keepsLength: false,
  }),
)
