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

describe('fields that a peer repeats', () => {
  const origin = { fields: ['a', '1', 'content-length', '5'], block: undefined }
  const text = (change: (headers: HeaderList) => void): string | undefined => {
    const headers = HeaderList.repeated(origin)
    change(headers)
    return request({ headers })
  }

  it('are written the same with fields added behind them, and without', () => {
    for (let round = 0; round < 2; round++) {
      expect(text((headers) => headers.append('b', '2'))).toBe(
        'GET /a HTTP/1.1\r\nhost: a.test\r\na: 1\r\nb: 2\r\n\r\n',
      )
      expect(text(() => {})).toBe('GET /a HTTP/1.1\r\nhost: a.test\r\na: 1\r\n\r\n')
    }
  })

  it('are written again after a change', () => {
    expect(text((headers) => headers.set('a', '3'))).toBe('GET /a HTTP/1.1\r\nhost: a.test\r\na: 3\r\n\r\n')
    expect(text((headers) => headers.remove('a'))).toBe('GET /a HTTP/1.1\r\nhost: a.test\r\n\r\n')
  })

  it('do not hide a bad value behind them', () => {
    expect(text((headers) => headers.append('b', 'x\r\nc: y'))).toBeUndefined()
    expect(text((headers) => headers.append('b c', 'x'))).toBeUndefined()
  })
})
