-- wrk script: a browser's head with another path each time, so that nothing is repeated byte for byte.
local n = 0
request = function()
  n = n + 1
  return "GET /item/" .. n .. "?v=12 HTTP/1.1\r\nHost: shop.example.com\r\nConnection: keep-alive\r\n" ..
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36\r\n" ..
    "Accept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n" ..
    "Referer: https://shop.example.com/\r\nSec-Fetch-Dest: script\r\nSec-Fetch-Mode: no-cors\r\n" ..
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n"
end
