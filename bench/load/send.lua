-- A blocking send with a unique message id in every request. The only argument is the prefix of the ids.
local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

local count = 0
local before, after
function init(args)
  before = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"' .. (args[1] or "m") .. "-" .. number .. "-"
  after = '","role":"ROLE_USER","parts":[{"text":"When does the ferry leave, and from where? Where do I buy a ticket?"}]}}}'
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["A2A-Version"] = "1.0"
end

function request()
  count = count + 1
  return wrk.format(nil, "/", nil, before .. count .. after)
end
