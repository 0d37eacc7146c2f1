// Writes the JSON Schema of the standalone file; test/standalone-schema.test.ts compares it with that of the loader.
import { writeFileSync } from 'node:fs'
import { standaloneJsonSchema } from '#proxy/config/standalone/json-schema.ts'

const FILE = new URL('../config/standalone/gw-standalone.schema.json', import.meta.url)

writeFileSync(FILE, `${JSON.stringify(standaloneJsonSchema(), null, 2)}\n`)
