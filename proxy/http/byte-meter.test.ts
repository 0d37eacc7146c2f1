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
  const told: TransferredBytes[] = []
  const to = { transferred: (bytes: TransferredBytes) => void told.push(bytes) }
  return { meter: new ByteMeter(socket, true), told, to }
}

describe('ByteMeter', () => {
  it('tells what moved since the last time', () => {
    const socket = { bytesRead: 10, bytesWritten: 20 }
    const { meter, told, to } = meterOf(socket)
    meter.report(to)
    meter.report(to)
    meter.place = PLACE
    socket.bytesWritten = 25
    meter.report(to)
    expect(told).toEqual([
      { place: undefined, isTls: true, received: 10, sent: 20 },
      { place: PLACE, isTls: true, received: 0, sent: 5 },
    ])
  })

  it('knows the place of a request that is under way', () => {
    const { meter, told, to } = meterOf({ bytesRead: 1, bytesWritten: 0 })
    meter.report(to, { place: PLACE })
    expect(told).toMatchObject([{ place: PLACE }])
  })

  it('tells nothing of a socket that does not count', () => {
    // A tunnel inside another connection is a stream, not a socket.
    const { meter, told, to } = meterOf({} as { bytesRead: number; bytesWritten: number })
    meter.report(to)
    expect(told).toEqual([])
  })
})
