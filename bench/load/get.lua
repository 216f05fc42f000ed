-- GetTask for all ids of a file (one per line), repeatedly. The only argument is that file.
local ids = {}
local next_id = 0
function init(args)
  for line in io.lines(args[1]) do ids[#ids + 1] = line end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["A2A-Version"] = "1.0"
end

function request()
  next_id = next_id % #ids + 1
  return wrk.format(nil, "/", nil, '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"' .. ids[next_id] .. '"}}')
end
