export interface SampleRequest {
  method: string
  /** The path with the examples of its parameters, and the query. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: unknown
  /** True if the request accepts an idempotency key. */
  isRepeatable: boolean
  /** True if the response is an endless stream, which the sample prints as it arrives. */
  isStream: boolean
}

interface Sample {
  lang: string
  label: string
  source: string
}

/**
 * Returns a program for a request in each language. It prints the response, and needs only what the language has, or `requests` in Python. A test
 * runs the programs.
 */
export const generateSamples = (request: SampleRequest): Sample[] => [
  { lang: 'Shell', label: 'curl', source: writeCurl(request) },
  { lang: 'TypeScript', label: 'TypeScript', source: writeTypeScript(request) },
  { lang: 'Python', label: 'Python', source: writePython(request) },
  { lang: 'PHP', label: 'PHP', source: writePhp(request) },
]

function writeCurl({ method, path, headers, body, isRepeatable, isStream }: SampleRequest) {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const options = [
    ...(isStream ? ['--no-buffer'] : []),
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    '-u "$TILLBRIDGE_USERNAME:$TILLBRIDGE_PASSWORD"',
    '-H "X-Service-Name: $TILLBRIDGE_SERVICE"',
    ...(isRepeatable ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
    `"$TILLBRIDGE_URL"${quote(path)}`,
  ]
  return `curl ${options.join(' \\\n  ')}\n`
}

const fieldSeparator = ',\n'

function writeTypeScript({ method, path, headers, body, isRepeatable, isStream }: SampleRequest) {
  const fields = [
    "    authorization: 'Basic ' + btoa(TILLBRIDGE_USERNAME + ':' + TILLBRIDGE_PASSWORD)",
    "    'x-service-name': TILLBRIDGE_SERVICE",
    ...(isRepeatable ? ["    'idempotency-key': crypto.randomUUID()"] : []),
    ...Object.entries(headers).map(([name, value]) => `    ${quoteSingle(name.toLowerCase())}: ${quoteSingle(value)}`),
    ...(body === undefined ? [] : ["    'content-type': 'application/json'"]),
  ]
  const options = [
    `  method: '${method}'`,
    `  headers: {\n${fields.join(fieldSeparator)},\n  }`,
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')})`]),
  ]
  return `const { TILLBRIDGE_URL = '', TILLBRIDGE_USERNAME, TILLBRIDGE_PASSWORD, TILLBRIDGE_SERVICE = '' } = process.env

const response = await fetch(TILLBRIDGE_URL + ${quoteSingle(path)}, {
${options.join(fieldSeparator)},
})
${
  isStream
    ? 'for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) console.log(text)'
    : 'console.log(await response.text())'
}
`
}

function writePython({ method, path, headers, body, isRepeatable, isStream }: SampleRequest) {
  const fields = [
    "        'X-Service-Name': os.environ['TILLBRIDGE_SERVICE']",
    ...(isRepeatable ? ["        'Idempotency-Key': str(uuid.uuid4())"] : []),
    ...Object.entries(headers).map(([name, value]) => `        ${quoteSingle(name)}: ${quoteSingle(value)}`),
  ]
  const options = [
    `    '${method}'`,
    `    os.environ['TILLBRIDGE_URL'] + ${quoteSingle(path)}`,
    "    auth=(os.environ['TILLBRIDGE_USERNAME'], os.environ['TILLBRIDGE_PASSWORD'])",
    `    headers={\n${fields.join(fieldSeparator)},\n    }`,
    ...(body === undefined ? [] : [`    json=${writeLiteral(body, pythonForm, '    ')}`]),
    '    timeout=30',
    ...(isStream ? ['    stream=True'] : []),
  ]
  const modules = ['os', ...(isRepeatable ? ['uuid'] : []), 'requests']
  return `${modules.map(name => `import ${name}\n`).join('')}
response = requests.request(
${options.join(fieldSeparator)},
)
${isStream ? 'for line in response.iter_lines(decode_unicode=True):\n    print(line, flush=True)' : 'print(response.text)'}
`
}

function writePhp({ method, path, headers, body, isRepeatable }: SampleRequest) {
  const fields = [
    "        'X-Service-Name: ' . getenv('TILLBRIDGE_SERVICE')",
    ...(isRepeatable ? ["        'Idempotency-Key: ' . bin2hex(random_bytes(16))"] : []),
    ...Object.entries(headers).map(([name, value]) => `        ${quoteSingle(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["        'Content-Type: application/json'"]),
  ]
  const options = [
    `    CURLOPT_CUSTOMREQUEST => '${method}'`,
    "    CURLOPT_USERPWD => getenv('TILLBRIDGE_USERNAME') . ':' . getenv('TILLBRIDGE_PASSWORD')",
    `    CURLOPT_HTTPHEADER => [\n${fields.join(fieldSeparator)},\n    ]`,
    ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => json_encode(${writeLiteral(body, phpForm, '    ')})`]),
  ]
  return `<?php
$request = curl_init(getenv('TILLBRIDGE_URL') . ${quoteSingle(path)});
curl_setopt_array($request, [
${options.join(fieldSeparator)},
]);
curl_exec($request);
`
}

const quoteSingle = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** How a language writes JSON values. */
interface LiteralForm {
  words: Readonly<Record<string, string>>
  object: readonly [opening: string, arrow: string, closing: string]
  emptyObject: string
}

const pythonForm: LiteralForm = {
  words: { true: 'True', false: 'False', null: 'None' },
  object: ['{', ': ', '}'],
  emptyObject: '{}',
}
const phpForm: LiteralForm = { words: {}, object: ['[', ' => ', ']'], emptyObject: 'new stdClass()' }

/** Writes a JSON value as a literal of another language. */
function writeLiteral(value: unknown, form: LiteralForm, indent: string): string {
  if (typeof value === 'string') return quoteSingle(value)
  if (value === null || typeof value !== 'object') return form.words[String(value)] ?? String(value)
  const inner = `${indent}    `
  const join = (first: string, items: string[], last: string) =>
    `${first}\n${items.map(item => `${inner}${item},\n`).join('')}${indent}${last}`
  if (Array.isArray(value)) {
    const items = value.map(item => writeLiteral(item, form, inner))
    return items.length ? join('[', items, ']') : '[]'
  }
  const [opening, arrow, closing] = form.object
  const members = Object.entries(value).map(
    ([name, member]) => `${quoteSingle(name)}${arrow}${writeLiteral(member, form, inner)}`,
  )
  return members.length ? join(opening, members, closing) : form.emptyObject
}
