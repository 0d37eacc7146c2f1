import { describe, expect, it } from 'vitest'
import { forbiddenHosts } from './host-bindings.ts'
import { commonHostnames } from './hostnames.ts'

const forbidden = forbiddenHosts([
  { host: '*.team-a.example.com', namespaces: ['team-a'] },
  { host: '*.TEAM-A.example.com', namespaces: ['shared'] },
  { host: 'special.team-a.example.com', namespaces: ['team-b'] },
  { host: '*.example.com', namespaces: ['platform'] },
])

describe('forbiddenHosts', () => {
  it.each([
    ['www.team-a.example.com', 'team-a', undefined],
    ['www.team-a.example.com', 'shared', undefined],
    ['www.team-a.example.com', 'other', '*.team-a.example.com'],
    ['WWW.Team-A.Example.com', 'other', '*.team-a.example.com'],
    ['a.b.team-a.example.com', 'other', '*.team-a.example.com'],
    ['*.team-a.example.com', 'other', '*.team-a.example.com'],
    ['*.b.team-a.example.com', 'other', '*.team-a.example.com'],
    ['special.team-a.example.com', 'team-a', 'special.team-a.example.com'],
    ['special.team-a.example.com', 'team-b', undefined],
    ['team-a.example.com', 'team-a', '*.example.com'],
    ['xteam-a.example.com', 'platform', undefined],
    ['example.com', 'other', undefined],
    ['*.com', 'other', undefined],
    ['', 'other', undefined],
  ])('%s in namespace %s: %s', (host, namespace, expected) => {
    expect(forbidden(host, namespace)?.host).toBe(expected)
  })

  it('reserves nothing without bindings', () => {
    expect(forbiddenHosts([])('www.example.com', 'other')).toBeUndefined()
  })
})

describe('commonHostnames', () => {
  it.each([
    [undefined, [], []],
    [undefined, ['A.example.com'], ['a.example.com']],
    ['*.Example.com', [], ['*.example.com']],
    ['*.example.com', ['a.example.com', 'b.example.org'], ['a.example.com']],
    ['*.example.com', ['*.a.example.com'], ['*.a.example.com']],
    ['*.a.example.com', ['*.example.com'], ['*.a.example.com']],
    ['*.example.com', ['*.example.com'], ['*.example.com']],
    ['a.example.com', ['*.example.com'], ['a.example.com']],
    ['a.example.com', ['a.example.com', 'b.example.com'], ['a.example.com']],
  ])('of listener %s and route %j: %j', (listener, route, expected) => {
    expect(commonHostnames(listener, route)).toEqual(expected)
  })
})
