import { expect, it } from 'vitest'
import { urlRequests } from './url-request.ts'

it.each([
  ['http://idp.example/keys?a=b', { host: 'idp.example', port: 80 }, '/keys?a=b', false],
  ['https://idp.example', { host: 'idp.example', port: 443 }, '/', true],
  ['https://[::1]:8443/k', { host: '::1', port: 8443 }, '/k', true],
])('%s', (url, place, path, isTls) => {
  const [request] = urlRequests([url])
  expect(request).toMatchObject({ key: url, url, place, path, refresh: 'asServerSays' })
  expect(request?.tls !== undefined).toBe(isTls)
})
