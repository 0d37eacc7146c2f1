import { describe, expect, it } from 'vitest'
import { type RequestHeadInput, requestHeadText } from './head-text.ts'
import { HeaderList } from './headers.ts'

function request(changed: Partial<RequestHeadInput>): string | undefined {
  return requestHeadText({
    method: 'GET',
    pathAndQuery: '/a',
    authority: 'a.test',
    headers: HeaderList.of([]),
    framing: 'None',
    upgrade: undefined,
    ...changed,
  })
}

describe('requestHeadText', () => {
  const unfit: Partial<RequestHeadInput>[] = [
    { method: '' },
    { method: 'GET /' },
    { pathAndQuery: '' },
    { pathAndQuery: '/a b' },
    { pathAndQuery: '/a\r\nx: y' },
    { authority: 'a.test\r\nx: y' },
    { authority: 'a/b' },
    { method: '', pathAndQuery: '', authority: '' },
  ]

  it.each(unfit)('refuses %j, also after a request that was fit', (changed) => {
    expect(request(changed)).toBeUndefined()
    expect(request({})).toBe('GET /a HTTP/1.1\r\nhost: a.test\r\n\r\n')
    expect(request(changed)).toBeUndefined()
  })
})
