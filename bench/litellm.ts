// LiteLLM beside us for requests to models, where GW_BENCH_LITELLM names its program. From the registry of Python:
// `python3 -m venv V && V/bin/pip install 'litellm[proxy]'`, then GW_BENCH_LITELLM=V/bin/litellm.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { chat, MODEL_PORT, MODEL_STREAM_PORT, modelRequest } from './model-routes.ts'
import type { Contender } from './contender.ts'

const PORT = 19_105
const PATH = '/v1/chat/completions'
/** It reads hundreds of modules. */
const START_MS_MAX = 120_000

const ENVIRONMENT = {
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_LOG: 'ERROR',
  LITELLM_TELEMETRY: 'False',
  // No key is compared, as in the route of Gw.
  LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
}

/** One worker, no keys, no database, no log of requests. */
export function litellm(folder: string, program: string): Contender {
  const file = join(folder, 'litellm.yaml')
  const model = (name: string, port: number): object => ({
    model_name: name,
    litellm_params: { model: `openai/${name}`, api_base: `http://127.0.0.1:${port}/v1`, api_key: 'none' },
  })
  writeFileSync(file, stringify({ model_list: [model('m', MODEL_PORT), model('streamed', MODEL_STREAM_PORT)] }))
  const streamed = chat(1024, { model: 'streamed', stream: true })
  return {
    name: 'litellm',
    port: PORT,
    command: program,
    args: ['--config', file, '--host', '127.0.0.1', '--port', String(PORT), '--num_workers', '1'],
    env: ENVIRONMENT,
    startMsMax: START_MS_MAX,
    routes: [
      modelRequest('litellm, completions of 1 KiB', PATH, chat(1024), 'nginx, completions of 1 KiB'),
      modelRequest('litellm, stream in one body', PATH, streamed, 'nginx, stream in one body'),
    ],
  }
}
