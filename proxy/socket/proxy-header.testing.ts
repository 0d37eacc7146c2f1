// PROXY headers of version 2 for tests; not used by the proxy.
import { isIPv4 } from 'node:net'
import type { TransportedAddresses } from './proxy-header.ts'

export function proxyHeader2({
  sourceAddress,
  localAddress,
  sourcePort,
  localPort,
  additions = Buffer.alloc(0),
}: TransportedAddresses & { readonly additions?: Buffer }): Buffer {
  const isV4 = isIPv4(sourceAddress)
  const toBytes = isV4 ? bytes4 : bytes6
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(sourcePort, 0)
  ports.writeUInt16BE(localPort, 2)
  const block = Buffer.concat([toBytes(sourceAddress), toBytes(localAddress), ports, additions])
  const head = Buffer.from([0x21, isV4 ? 0x11 : 0x21, block.length >> 8, block.length & 0xff])
  return Buffer.concat([Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'), head, block])
}

function bytes4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

function bytes6(address: string): Buffer {
  const mapped = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address)
  const tail = mapped?.[2] === undefined ? Buffer.alloc(0) : bytes4(mapped[2])
  const [left = '', right = ''] = (mapped?.[1]?.replace(/:$/, '') ?? address).split('::')
  const words = (text: string): number[] =>
    text
      .split(':')
      .filter(Boolean)
      .map((word) => Number.parseInt(word, 16))
  const before = words(left)
  const after = words(right)
  const gap = 8 - before.length - after.length - tail.length / 2
  const bytes = Buffer.alloc(16 - tail.length)
  for (const [index, word] of [...before, ...Array.from({ length: gap }, () => 0), ...after].entries())
    bytes.writeUInt16BE(word, index * 2)
  return Buffer.concat([bytes, tail])
}
