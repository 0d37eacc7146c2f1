// "Copy as curl" of the page Requests: the command sends the same request.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { curlOf } from '../../ui/replay-request.ts'

let port: number
const server = createServer((request, response) => {
  void text(request).then((body) => {
    const { method, url, headers } = request
    response.end(JSON.stringify({ method, url, host: headers.host, own: headers['x-own'], body }))
  })
})

beforeAll(async () => {
  port = await listening(server)
})
afterAll(() => closeServer(server))

it.each([
  { method: 'GET', url: 'http://shop.example.com/a?b=1&c=$HOME', headers: 'x-own: `id`', body: '' },
  {
    method: 'POST',
    url: 'http://shop.example.com/',
    headers: 'x-own: it\'s "quoted"',
    body: '{"a": "b\'c",\n "d": 1}',
  },
  { method: 'DELETE', url: 'http://shop.example.com/x', headers: 'x-own: a: b\nx-other: 1', body: '@/etc/passwd' },
])('$method', async (given) => {
  const command = curlOf({ ...given, port: String(port) })
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent`])
  const { method, url, headers, body } = given
  const [, own = ''] = /^x-own: (.*)$/m.exec(headers) ?? []
  expect(JSON.parse(stdout.slice(stdout.indexOf('\r\n\r\n')))).toEqual({
    method,
    url: url.slice('http://shop.example.com'.length),
    host: 'shop.example.com',
    own,
    body,
  })
})
