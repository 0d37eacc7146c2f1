// Addresses of providers: what is taken apart, and what could lead back into the proxy or its host.
import { describe, expect, it } from 'vitest'
import { parseBaseUrl } from './base-url.ts'

describe('parseBaseUrl', () => {
  it.each([
    ['https://llm.example', { host: 'llm.example', port: 443, isTls: true, pathPrefix: undefined }],
    ['http://llm.example/', { host: 'llm.example', port: 80, isTls: false, pathPrefix: undefined }],
    ['HTTPS://LLM.example:8443/a/v1/', { host: 'llm.example', port: 8443, isTls: true, pathPrefix: '/a/v1' }],
    ['http://10.0.0.7:1', { host: '10.0.0.7', port: 1, isTls: false, pathPrefix: undefined }],
    ['http://[2001:DB8::7]:65535', { host: '2001:db8::7', port: 65_535, isTls: false, pathPrefix: undefined }],
    ['http://7.example', { host: '7.example', port: 80, isTls: false, pathPrefix: undefined }],
  ])('accepts %s', (text, expected) => {
    expect(parseBaseUrl(text)).toEqual(expected)
  })

  it.each([
    ['llm.example', 'http or https URL'],
    ['ftp://llm.example', 'http or https URL'],
    ['https://user@llm.example', 'http or https URL'],
    ['https://llm.example?key=1', 'http or https URL'],
    ['https://llm.example/#a', 'http or https URL'],
    ['https://', 'http or https URL'],
    ['http://llm.example:0', 'port 0'],
    ['http://llm.example:65536', 'port 65536'],
    ['http://localhost', 'localhost'],
    ['http://LOCALHOST./', 'localhost'],
    ['http://a.localhost:80', 'localhost'],
    ['http://127.9.9.9', 'loopback'],
    ['http://169.254.169.254', 'link-local'],
    ['http://0.0.0.0', 'unspecified'],
    ['http://0.1.2.3', 'unspecified'],
    ['http://2130706433', 'unusual spelling'],
    ['http://0x7f.1', 'unusual spelling'],
    ['http://0x7f000001', 'unusual spelling'],
    ['http://127.1', 'unusual spelling'],
    ['http://127.0.0.1.', 'loopback'],
    ['http://[::]', 'unspecified'],
    ['http://[::1]', 'loopback'],
    ['http://[0:0:0:0:0:0:0:1]', 'loopback'],
    ['http://[fe80::1]', 'link-local'],
    ['http://[febf::1]', 'link-local'],
    ['http://[::ffff:127.0.0.1]', 'loopback'],
    ['http://[::ffff:a9fe:a9fe]', 'link-local'],
    ['http://[not-an-address]', 'not an IPv6 address'],
  ])('rejects %s', (text, message) => {
    expect(parseBaseUrl(text)).toMatchObject({ message: expect.stringContaining(message) })
  })
})
