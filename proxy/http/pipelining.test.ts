// Requests that a client sends without waiting for answers: others are served meanwhile.
import { expect, it } from 'vitest'
import { HeaderList } from '../message/headers.ts'
import { HttpResponse } from '../message/message.ts'
import { startProxy, until } from './server.testing.ts'

const COUNT = 20_000

it('of one connection leave turns to others, and are all answered in order', { tags: ['full'] }, async () => {
  const proxy = await startProxy(1, {
    handle(exchange, respond) {
      exchange.response = new HttpResponse(204, new HeaderList(), undefined, true)
      respond(exchange)
    },
  })
  const [flood, other] = [await proxy.connect(), await proxy.connect()]
  try {
    const requests = Array.from({ length: COUNT }, (_, i) => `GET /${i} HTTP/1.1\r\nhost: a\r\n\r\n`)
    flood.send(requests.join(''))
    other.send('GET /other HTTP/1.1\r\nhost: a\r\n\r\n')
    await until(() => proxy.handled.length === COUNT + 1, 'all requests')
    const paths = proxy.handled.map(({ request }) => request.path)
    expect(paths.indexOf('/other')).toBeLessThan(COUNT / 10)
    expect(paths.filter((path) => path !== '/other')).toEqual(Array.from({ length: COUNT }, (_, i) => `/${i}`))
    await other.sees('204')
  } finally {
    proxy.close()
  }
})
