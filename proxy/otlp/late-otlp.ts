// What writes records as messages of OTLP. Loaded with the first configuration that exports traces or an access log.
import { LatePart } from '#api/late-part.ts'

export const OTLP = new LatePart('OTLP', async () => {
  const [users, logs, resource, sampler] = await Promise.all([
    import('./exporter-users.ts'),
    import('./log-export.ts'),
    import('./resource.ts'),
    import('./sampler.ts'),
  ])
  return { ...users, ...logs, ...resource, ...sampler }
})
