// Lists all places of proxy and operator that open connections or send requests: they check addresses or need no check.
// A new place must be added with its reason.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

const OPENS = new RegExp(
  [
    String.raw`(?<![.#\w])(?:net|tls|http2?|https)\.(?:connect|createConnection|request)\(`,
    String.raw`new (?:net\.)?Socket\(`,
    // Not the declaration of a method, such as that of a TokenSource.
    String.raw`(?<![.#\w])fetch\((?!_?signal(?:: AbortSignal)?\)[ :])`,
    String.raw`import (?:\w+, )?\{[^}]*\b(?:connect|createConnection|request|get)\b[^}]*\} from 'node:(?:net|tls|https?|http2)'`,
    String.raw`from '(?:undici|ws|axios)'`,
    // The client of the operator, which connects to the given address.
    String.raw`from '(?:\.\.|#operator)/http/(?:connect|pool|socket-client)\.ts'`,
  ].join('|'),
)

/** Why users cannot bypass the check of addresses. */
const KNOWN: Readonly<Record<string, string>> = {
  'proxy/admin/page-sender.ts': 'only ports of listeners of this process',
  'proxy/upstream/http2-connect.ts': 'after resolveTarget, or over the socket of dialTunnel',
  'proxy/upstream/dial.ts': 'after resolveTarget',
  'proxy/socket/transport.ts': 'called by proxy/upstream/pool.ts, after resolveInTime',
  'proxy/credentials/cloud-fetch.ts': 'token endpoints of vendors, and hosts that the environment names',
  'proxy/config/cluster/kube-client.ts': 'the API server, which the pod names',
  'operator/http/connect.ts': 'its callers check: with the look-up they hand over, and literals before',
  'operator/http/pool.ts': 'its callers name a server that an administrator has named',
  'operator/http/request.ts': 'over what the other files of operator/http have opened',
  'operator/http/socket-client.ts': 'over a socket that is already open',
  'operator/jwks/connection.ts': 'with guardedLookup, after checkLiteral and checkUnresolved',
  'operator/jwks/exchange.ts': 'over the socket of operator/jwks/connection.ts',
  'operator/kube/credentials.ts': 'the API server, which the pod or KUBECONFIG names',
}

it('connections are opened only where addresses are checked, or where only the administrator sets them', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'proxy', 'operator'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const sources = files.split('\n').filter((file) => /(?<!\.test|\.testing|\.gen|\.d)\.ts$/.test(file))
  const own = sources.filter((file) => !/\/(?:bench|testdata)\/|\/bench\.ts$/.test(file))
  const opening = own.filter((file) => OPENS.test(readFileSync(join(ROOT, file), 'utf8')))
  expect(opening.sort()).toEqual(Object.keys(KNOWN).sort())
})
