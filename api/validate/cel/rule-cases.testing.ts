// Rules that are true for SELF, one for each function of the API server. Local evaluation and a real API server are
// both held to them.

export const RULES_THAT_HOLD: readonly string[] = [
  // texts
  'self.text.charAt(1) == "é"',
  'self.text.charAt(11) == ""',
  'self.text.replace("l", "L") == "héLLo worLd"',
  'self.text.replace("l", "L", 1) == "héLlo world"',
  'self.text.matches("^h.llo w[a-z]+$")',
  'self.text.matches("\\\\pL+") && "a.matches(".matches("\\\\.matches\\\\(")',
  'self.text.find("[a-z]+$") == "world" && self.text.find("[0-9]") == ""',
  'self.text.findAll("o") == ["o", "o"] && self.text.findAll("o", 1) == ["o"]',
  '"%s is %d, %x, %.2f, %b, 100%%".format(["a", 10, 255, 1.5, true]) == "a is 10, ff, 1.50, 1, 100%"',
  // lists and sets
  '!self.list.isSorted() && [1, 2, 2].isSorted() && self.list.sum() == 6',
  'self.list.min() == 1 && self.list.max() == 3',
  'self.names.indexOf("a") == 1 && self.names.lastIndexOf("z") == -1',
  'sets.contains([1, 2, 3], [2]) && !sets.contains([1], [2])',
  'sets.equivalent([1, 1], [1]) && sets.intersects(["a"], ["b", "a"])',
  // presence
  'has(self.items[0].when) && !has(self.items[1].when) && !has(self.nothing)',
  'has(self.map) && self.?nothing.orValue("d") == "d" && self.?text.hasValue()',
  '"has(self.x)" == "has(self" + ".x)"',
  // URLs
  'isURL(self.url) && isURL("/only/path") && !isURL("relative") && !isURL("http://bad host/") && !isURL("")',
  'url(self.url).getScheme() == "https" && url(self.url).getHost() == "example.com:8443"',
  'url(self.url).getHostname() == "example.com" && url(self.url).getPort() == "8443"',
  'url("http://[::1]:80/").getHostname() == "::1" && url("http://[::1]:80/").getHost() == "[::1]:80"',
  'url(self.url).getEscapedPath() == "/a/b" && url(self.url).getQuery()["x"] == ["1", "2"]',
  // addresses
  'isIP("10.0.0.1") && isIP("::1") && !isIP("10.0.0.01") && !isIP("10.1") && !isIP("::ffff:1.2.3.4")',
  'ip("127.0.0.1").isLoopback() && ip("::1").family() == 6 && ip("169.254.1.1").isLinkLocalUnicast()',
  'ip("0.0.0.0").isUnspecified() && ip("8.8.8.8").isGlobalUnicast() && string(ip("10.0.0.1")) == "10.0.0.1"',
  'isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/08")',
  'cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("11.0.0.0"))',
  'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8")',
  'cidr("fe80::/10").prefixLength() == 10 && string(cidr("10.1.2.3/8").ip()) == "10.1.2.3"',
  // quantities
  'isQuantity("1.5Gi") && isQuantity("1e3") && isQuantity("100m") && !isQuantity("1.5.1") && !isQuantity("10 Mi")',
  'quantity("1Ki").asInteger() == 1024 && quantity("1500m").isInteger() == false',
  'quantity("1Gi").isGreaterThan(quantity("1G")) && quantity("1").compareTo(quantity("1000m")) == 0',
  'quantity("50k").add(quantity("1")).sub(quantity("1")).isLessThan(quantity("51k"))',
  'quantity("0.1").asApproximateFloat() == 0.1 && quantity("1k") == quantity("1000")',
  'url("http://a/b") == url("http://a/b") && url("http://a/b") != url("http://a/c") && ip("::1") == ip("0::1")',
  // formats
  '!format.dns1123Label().validate("my-name").hasValue() && format.dns1123Label().validate("My").hasValue()',
  'format.named("uuid").value().validate("not one").hasValue() && !format.named("nothing").hasValue()',
  // durations
  'duration("1h30m") > duration("89m") && duration("100ms") < duration("1s")',
]

export const SELF = {
  text: 'héllo world',
  list: [3, 1, 2],
  names: ['b', 'a'],
  items: [{ when: 'x' }, {}],
  map: { 'a/b': 'c' },
  url: 'https://user@example.com:8443/a/b?x=1&x=2&y=',
}
