import { describe, expect, it } from 'vitest'
import { HttpResponse } from '../message/message.ts'
import { exchangeOf } from '../policy/exchange.testing.ts'
import { taskList } from './task-list.ts'

describe('taskList', () => {
  it('shows requests oldest first, without their queries', () => {
    const waiting = exchangeOf({ path: '/slow', query: 'token=secret', host: 'shop.example' })
    waiting.upstreamStartMs = waiting.startMs
    waiting.endpoint = '10.0.0.9:80'
    waiting.place = {
      bind: 'b',
      gatewayNamespace: 'ns',
      gatewayName: 'gw',
      listener: 'l',
      routeKind: 'HTTPRoute',
      routeNamespace: 'ns',
      routeName: 'shop',
      routeRule: 'rule',
    }
    const sending = exchangeOf({ path: '/x'.repeat(200), method: 'POST' })
    sending.response = HttpResponse.local(200)
    const lines = taskList(3, [sending, waiting], waiting.startMs + 1500)
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe('3 connections, 2 requests in flight')
    expect(lines[1]).toBe(
      'request GET shop.example/slow, from 10.0.0.1:40000, route ns/shop/rule, endpoint 10.0.0.9:80, ' +
        'state waiting for the backend, age 1.500 s',
    )
    expect(lines[2]).toContain(`request POST example.com${'/x'.repeat(128)}, from`)
    expect(lines[2]).toContain('route none, endpoint none, state sending the response')
  })

  it('is bounded', () => {
    const one = exchangeOf()
    const many = (count: number): string[] =>
      taskList(
        0,
        Array.from({ length: count }, () => one),
        one.startMs,
      )
    expect(many(1000)).toHaveLength(1001)
    expect(many(1001).slice(1001)).toEqual(['and 1 more requests'])
  })
})
