// Runs in the browser: shows the document in Scalar, without anything that sends requests or links to another origin.
const content = await (await fetch('../openapi.json?samples=true')).json()

// Optional parameters are offered, but not sent until the reader ticks them: some exclude each other.
const everyParameter = [
  ...Object.values(content.components.parameters),
  ...Object.values(content.paths).flatMap(path => Object.values(path).flatMap(operation => operation.parameters)),
]
for (const parameter of everyParameter) {
  if (parameter.$ref || parameter.required) continue
  const { example, examples = { example: { value: example } } } = parameter
  for (const sample of Object.values(examples)) sample['x-disabled'] = true
  parameter.examples = examples
  delete parameter.example
}

globalThis.Scalar.createApiReference('#reference', {
  content,
  // Requests are tried out on the origin that the page came from, whatever other names the service has.
  servers: [{ url: new URL('..', location.href).href.replace(/\/$/, '') }],
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  defaultOpenAllTags: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})

// The viewer renders in one step, which takes seconds on a slow machine. The loading text stays until then, so the page is never blank.
document.getElementById('loading').remove()
