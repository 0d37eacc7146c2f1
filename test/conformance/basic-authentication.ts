// traffic.basicAuthentication: users of Secret and policy, the challenge, and a missing Secret.
import { expect } from 'vitest'
import { all, changing, replacing, type ConformanceCase } from './suite/case.ts'

const SAMPLE = 'basic-authentication.yaml'

/** All are hashes of `password`. */
const HASHES = [
  'md5:$apr1$saltsalt$yAAkm4libquA.ZWLHbSBq/',
  'sha256:$5$saltsalt$gOjOtoMpVhru2uyjeJSEc/JaLQWOXMNmlOnj6T4AtC.',
  'sha512:$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/',
  'des:abJnggxhB/yWI',
  'sha1:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
  'bcrypt:$2y$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm',
]

const encoded = (credentials: string): string => Buffer.from(credentials).toString('base64')
const basic = (credentials: string) => ({ headers: { authorization: `Basic ${encoded(credentials)}` } })

export const cases: readonly ConformanceCase[] = [
  {
    shortName: 'BasicAuthStrict',
    description: 'a user of the Secret is accepted and the password removed; others get 401 and the challenge',
    sample: SAMPLE,
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', basic('alice:wonderland'))
      expect(headers['x-user']).toBe('alice')
      expect(headers).not.toHaveProperty('authorization')
      for (const question of [{}, basic('alice:builder'), basic('bob:builder'), basic('alice'), basic(':')]) {
        const refused = await gateway.ask('/strict', question)
        expect(refused.status).toBe(401)
        expect(refused.headers['www-authenticate']).toBe('Basic realm="Staff"')
      }
    },
  },
  {
    shortName: 'BasicAuthHashes',
    description: 'every kind of hash that htpasswd and mkpasswd write is accepted',
    sample: SAMPLE,
    change: changing('GwPolicy/basic-authentication-optional', { traffic: { basicAuthentication: { users: HASHES } } }),
    async run(gateway) {
      for (const line of HASHES) {
        const [name] = line.split(':')
        await gateway.echo('/optional', basic(`${name}:password`))
        expect((await gateway.ask('/optional', basic(`${name}:Password`))).status).toBe(401)
      }
    },
  },
  {
    shortName: 'BasicAuthOptional',
    description: 'a request without credentials passes, wrong ones are rejected; the default realm is Restricted',
    sample: SAMPLE,
    async run(gateway) {
      await gateway.echo('/optional')
      await gateway.echo('/optional', basic('bob:builder'))
      const refused = await gateway.ask('/optional', basic('bob:wonderland'))
      expect(refused.status).toBe(401)
      expect(refused.headers['www-authenticate']).toBe('Basic realm="Restricted"')
    },
  },
  {
    shortName: 'BasicAuthHashesStaySecret',
    description: 'the dump contains no line of users',
    sample: SAMPLE,
    async run(gateway) {
      const dump = JSON.stringify(await gateway.dump())
      for (const secret of ['$2b$', '$apr1$']) expect(dump).not.toContain(secret)
    },
  },
  {
    shortName: 'BasicAuthMissingSecret',
    description: 'without the Secret every user is rejected',
    sample: SAMPLE,
    change: replacing('kind: Secret\nmetadata:\n  name: users', 'kind: Secret\nmetadata:\n  name: others'),
    async run(gateway) {
      for (const question of [{}, basic('alice:wonderland')]) {
        expect((await gateway.ask('/strict', question)).status).toBe(401)
      }
      const [accepted] = gateway.conditions('GwPolicy', 'basic-authentication-strict')
      expect(accepted).toMatchObject({
        reason: 'PartiallyValid',
        message: 'spec.traffic.basicAuthentication.secretRef: secret default/users not found',
      })
    },
  },
  {
    shortName: 'BasicAuthSharedLocation',
    description: 'two schemes with the same header reject every request, and the status has the reason',
    sample: SAMPLE,
    change: replacing(
      '      realm: Staff\n',
      '      realm: Staff\n    apiKeyAuthentication:\n      secretRef:\n        name: users\n',
    ),
    async run(gateway) {
      expect((await gateway.ask('/strict', basic('alice:wonderland'))).status).toBe(401)
      const [accepted] = gateway.conditions('GwPolicy', 'basic-authentication-strict')
      expect(accepted?.message).toContain('both read a credential from header authorization')
    },
  },
  {
    shortName: 'BasicAuthLocations',
    description: 'credentials are read from a header with a prefix, the query, a cookie, or by an expression',
    sample: SAMPLE,
    change: all(
      replacing('  .htaccess:', '  list:'),
      changing('GwPolicy/basic-authentication-strict', {
        traffic: {
          basicAuthentication: {
            mode: 'Strict',
            secretRef: { key: 'list' },
            location: { header: { name: 'X-Login', prefix: 'Login ' } },
          },
        },
      }),
      changing('GwPolicy/basic-authentication-optional', {
        traffic: { basicAuthentication: { location: { queryParameter: { name: 'login' } } } },
      }),
    ),
    async run(gateway) {
      const { headers } = await gateway.echo('/strict', {
        headers: { 'x-login': `Login ${encoded('alice:wonderland')}` },
      })
      expect(headers['x-user']).toBe('alice')
      expect(headers).not.toHaveProperty('x-login')
      expect((await gateway.ask('/strict', basic('alice:wonderland'))).status).toBe(401)
      const query = `login=${encodeURIComponent(encoded('bob:builder'))}`
      expect((await gateway.echo(`/optional?${query}&a=1`)).path).toBe('/optional?a=1')
      expect((await gateway.ask(`/optional?login=${encoded('bob:wrong')}`)).status).toBe(401)
    },
  },
  {
    shortName: 'BasicAuthCookieAndExpression',
    description: 'a cookie with the credentials is removed; an expression may read any part of the request',
    sample: SAMPLE,
    change: all(
      changing('GwPolicy/basic-authentication-strict', {
        traffic: { basicAuthentication: { location: { cookie: { name: 'login' } } } },
      }),
      changing('GwPolicy/basic-authentication-optional', {
        traffic: { basicAuthentication: { mode: 'Strict', location: { expression: 'request.headers["x-login"]' } } },
      }),
    ),
    async run(gateway) {
      const cookie = `login=${encoded('alice:wonderland')}; theme=dark`
      const { headers } = await gateway.echo('/strict', { headers: { cookie } })
      expect(headers).toMatchObject({ 'x-user': 'alice', cookie: 'theme=dark' })
      expect((await gateway.ask('/strict', { headers: { cookie: 'theme=dark' } })).status).toBe(401)
      await gateway.echo('/optional', { headers: { 'x-login': encoded('bob:builder') } })
      expect((await gateway.ask('/optional')).status).toBe(401)
    },
  },
]
