// Names of backends in Host and in TLS.
import { describe, expect, it } from 'vitest'
import { asciiOf, serverNameOf } from './host-names.ts'

describe('a host name', () => {
  it.each([
    ['api.example.com', 'api.example.com', 'api.example.com'],
    ['API.example.com', 'API.example.com', 'API.example.com'],
    ['api.example.com.', 'api.example.com.', 'api.example.com'],
    ['bücher.example', 'xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['Bücher.example.', 'xn--bcher-kva.example.', 'xn--bcher-kva.example'],
    ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
    ['127.1', '127.1', '127.1'],
    ['ü b', 'ü b', 'ü b'],
  ])('%s: Host %s, server name %s', (host, ascii, serverName) => {
    expect([asciiOf(host), serverNameOf(host)]).toEqual([ascii, serverName])
  })
})
