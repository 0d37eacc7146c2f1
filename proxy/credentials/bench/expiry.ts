// Requests at a steady rate over the end of a token: failures, fetches, and the slowest request.
// Run: node proxy/credentials/bench/expiry.ts [seconds] [requests per second]
import { loadOverExpiry } from '../expiry-load.testing.ts'

const seconds = Number(process.argv[2] ?? 60)
const perSecond = Number(process.argv[3] ?? 1000)

const { sent, failures, ended, perToken, fetches, slowestMs } = await loadOverExpiry({
  seconds,
  perSecond,
  workers: 2,
  endpointMs: 200,
})
const failed = [...failures].map(([what, count]) => `${what}: ${count}`).join(', ')
console.log(`${sent} requests in ${seconds} s: ${failed === '' ? 'no failure' : failed}`)
console.log(`${ended} reached the backend with a token that had ended; requests for each token: ${perToken.join(', ')}`)
console.log(`${fetches} fetches (the first token, and one for its end); slowest request ${slowestMs.toFixed(0)} ms`)
