// Bytes since the last report, and none where nothing moved or nothing counts.
import { describe, expect, it } from 'vitest'
import { ByteMeter, type TransferredBytes } from './byte-meter.ts'

const PLACE = {
  bind: 'b',
  gatewayNamespace: 'ns',
  gatewayName: 'gw',
  listener: 'l',
  routeKind: undefined,
  routeNamespace: undefined,
  routeName: undefined,
  routeRule: undefined,
}

function meterOf(socket: { bytesRead: number; bytesWritten: number }) {
  const reported: TransferredBytes[] = []
  const to = { transferred: (bytes: TransferredBytes) => void reported.push(bytes) }
  return { meter: new ByteMeter(socket, true), reported, to }
}

describe('ByteMeter', () => {
  it('reports what moved since the last time', () => {
    const socket = { bytesRead: 10, bytesWritten: 20 }
    const { meter, reported, to } = meterOf(socket)
    meter.report(to)
    meter.report(to)
    meter.place = PLACE
    socket.bytesWritten = 25
    meter.report(to)
    expect(reported).toEqual([
      { place: undefined, isTls: true, received: 10, sent: 20 },
      { place: PLACE, isTls: true, received: 0, sent: 5 },
    ])
  })

  it('knows the place of a request that is under way', () => {
    const { meter, reported, to } = meterOf({ bytesRead: 1, bytesWritten: 0 })
    meter.report(to, { place: PLACE })
    expect(reported).toMatchObject([{ place: PLACE }])
  })

  it('reports nothing for a socket that does not count', () => {
    // A tunnel inside another connection is a stream, not a socket.
    const { meter, reported, to } = meterOf({} as { bytesRead: number; bytesWritten: number })
    meter.report(to)
    expect(reported).toEqual([])
  })
})
