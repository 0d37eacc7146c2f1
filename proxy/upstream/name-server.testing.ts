// A name server on UDP for tests: answers A and AAAA from a table (RFC 1035 section 4).
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'

export interface NameRecord {
  readonly a?: readonly string[]
  readonly ttl?: number
  /** RFC 1035 section 4.1.1; 3: no such name. */
  readonly rcode?: number
  /** Gives no answer at all. */
  readonly isSilent?: boolean
}

export interface NameServer {
  /** For `Resolver.setServers`. */
  readonly address: string
  /** Names in lower case. */
  readonly records: Map<string, NameRecord>
  /** `A name`, in the order they came. */
  readonly seen: string[]
  stop(): Promise<void>
}

const TYPE_A = 1
const NO_SUCH_NAME = 3
const HEADER_BYTES = 12

export async function nameServer(records: Readonly<Record<string, NameRecord>>): Promise<NameServer> {
  const table = new Map(Object.entries(records))
  const seen: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = questionOf(query)
    seen.push(`${type === TYPE_A ? 'A' : 'AAAA'} ${name}`)
    const record = table.get(name) ?? { rcode: NO_SUCH_NAME }
    if (record.isSilent !== true) socket.send(answerTo(query.subarray(0, end), type, record), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    records: table,
    seen,
    async stop() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(question: Buffer, type: number, { a = [], ttl = 60, rcode = 0 }: NameRecord): Buffer {
  const addresses = type === TYPE_A ? a : []
  const head = Buffer.from(question)
  // A response, recursion desired and available; one question.
  head.writeUInt16BE(0x8180 | rcode, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const answers = addresses.map((address) => {
    const record = Buffer.alloc(16)
    // Pointer to the name in the question.
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(TYPE_A, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt32BE(ttl, 6)
    record.writeUInt16BE(4, 10)
    Buffer.from(address.split('.').map(Number)).copy(record, 12)
    return record
  })
  return Buffer.concat([head, ...answers])
}
