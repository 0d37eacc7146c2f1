// What a call that is made for a request has of it, and that it takes nothing back.
import { expect, it } from 'vitest'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { derive } from './derive.ts'
import { HttpResponse } from '../message/message.ts'

function withFindings() {
  const exchange = exchangeOf({ path: '/client' })
  exchange.place = { ...PLACE }
  exchange.attributes = Object.assign(Object.create(null), { jwt: { sub: 'ann' } })
  exchange.metadata = Object.assign(Object.create(null), { tier: 'gold' })
  exchange.deadlineMs = 1234
  exchange.requestId = 'id'
  exchange.response = HttpResponse.local(200)
  exchange.backendName = 'backend'
  exchange.celStepsLeft = 7
  return exchange
}

const PLACE = {
  bind: '80/ns/gw',
  gatewayNamespace: 'ns',
  gatewayName: 'gw',
  listener: 'http',
  routeKind: undefined,
  routeNamespace: undefined,
  routeName: undefined,
  routeRule: undefined,
}

it('has the client, the place, the deadline and what policies found out', () => {
  const exchange = withFindings()
  const { request } = exchangeOf({ path: '/service' })
  const own = derive(exchange, { request })
  expect(own).toMatchObject({
    deadlineMs: 1234,
    requestId: 'id',
    startMs: exchange.startMs,
    metadata: { tier: 'gold' },
  })
  expect(own.request).toBe(request)
  expect(own.connection).toBe(exchange.connection)
  expect(own.place).toBe(exchange.place)
  expect(own.attributes).toEqual(exchange.attributes)
  expect(Object.getPrototypeOf(own.attributes)).toBeNull()
})

it('has no answer, no backend, no trace without a name, and its own budget', () => {
  const own = derive(withFindings(), { request: exchangeOf().request, startMs: 5 })
  expect([own.response, own.backendName, own.trace, own.startMs]).toEqual([undefined, undefined, undefined, 5])
  expect(own.celStepsLeft).toBeGreaterThan(7)
})

it('changes nothing of the request', () => {
  const exchange = withFindings()
  const own = derive(exchange, { request: exchangeOf().request })
  if (own.attributes !== undefined) own.attributes['extauthz'] = { said: 'yes' }
  if (own.metadata !== undefined) own.metadata['tier'] = 'lead'
  own.fail('internal')
  expect(Object.keys(exchange.attributes ?? {})).toEqual(['jwt'])
  expect(exchange.metadata).toEqual({ tier: 'gold' })
  expect([exchange.failure, exchange.response?.status]).toEqual([undefined, 200])
})
