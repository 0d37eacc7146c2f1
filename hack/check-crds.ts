// Checks our CRDs on a real API server, fast, while a schema is written: all must install; then every fixture of one
// kind (or of all) must get the expected verdict at the expected path, and local validation must agree.
//   hack/check-crds.sh [KIND] [--every]     KIND in lower case, e.g. gwpolicy
// With --every, limits are tried at each place of a type that is used in many.
import { type ApiServer, apiServerScript, startApiServer, type Verdict } from '#api/v1alpha1/apiserver.testing.ts'
import { type CrdKind, crdFiles, loadCrdKinds } from '#api/v1alpha1/crd-schema.testing.ts'
import { compareKind } from '#api/v1alpha1/parity.testing.ts'
import { type Fixture, fixtureKinds, loadFixtures } from '#api/v1alpha1/testdata.testing.ts'

const PORT = 16443

const script = apiServerScript()
if (script === undefined) {
  console.error('no API server: set GW_APISERVER to a script that knows "up" and "down"')
  process.exit(2)
}
const kinds = loadCrdKinds()
const server = await startApiServer(script, PORT)
await server.installCrds(crdFiles())
console.log(`installed: ${kinds.map(({ plural }) => plural).join(', ')}`)

const wanted = process.argv.slice(2).find((argument) => !argument.startsWith('-'))
const scope = process.argv.includes('--every') ? 'every' : 'distinct'
let failed = 0
for (const name of fixtureKinds()) {
  if (wanted !== undefined && wanted !== name) continue
  const kind = kinds.find((each) => each.name === name)
  if (kind === undefined) {
    console.error(`testdata/${name}: no such kind`)
    failed += 1
    continue
  }
  const fixtures = loadFixtures(name)
  const found = await Promise.all(fixtures.map((fixture) => check(server, kind, fixture)))
  const complaints = found.filter((complaint) => complaint !== undefined)
  const { count, differences } = await compareKind(server, { kind, fixtures, scope })
  for (const complaint of complaints) console.error(`FAIL ${name} ${complaint}`)
  for (const difference of differences) console.error(`DIFFERENT ${name} ${difference}`)
  const verdicts = `${fixtures.length - complaints.length} of ${fixtures.length} fixtures as expected`
  console.log(`${name}: ${verdicts}; local validation agrees on ${count - differences.length} of ${count} cases`)
  failed += complaints.length + differences.length
}
console.log(`the API server stays up; stop it with: ${script} down`)
process.exit(failed === 0 ? 0 : 1)

async function check(apiServer: ApiServer, kind: CrdKind, fixture: Fixture): Promise<string | undefined> {
  const { object, oldObject } = fixture
  const verdict =
    oldObject === undefined ? await apiServer.create(kind, object) : await apiServer.update(kind, { oldObject, object })
  const complaint = complaintOf(fixture, verdict)
  return complaint === undefined ? undefined : `${fixture.title}\n  ${complaint}`
}

function complaintOf({ error }: Fixture, verdict: Verdict): string | undefined {
  if (error === undefined) return verdict.accepted ? undefined : `is refused: ${verdict.message}`
  if (verdict.accepted) return 'is accepted'
  if (verdict.message.includes(`unknown field "${error.path}"`)) return undefined
  const cause = verdict.causes.find(({ field, message }) => field === error.path && message.includes(error.message))
  return cause === undefined ? `no "${error.message}" at ${error.path}: ${verdict.message}` : undefined
}
