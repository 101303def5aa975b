import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { installNpmTools, installPipTools } from '../../scenarios/support/install-tools.ts'
import { startNetwork, toApiKey, trustCertificate } from '../../test/client/shop.ts'
import { startOrderShop } from '../../test/support/order-shop.ts'
import { buildClient, type Language } from './build.ts'

// Builds each client as a user gets it, installs it, and runs its example and its tests against a server.

const { api } = await startOrderShop()
trustCertificate(api.ca)
/** Two networks, each of which loses one response per client. The first one also cuts off the next response. */
const networks = [await startNetwork(api.baseUrl), await startNetwork(api.baseUrl)] as const
const disturbNetworks = () => {
  for (const network of networks) network.loseResponses(1)
  networks[0].cutResponses(1)
}
const directory = mkdtempSync(join(tmpdir(), 'tillbridge-clients-'))
after(async () => {
  rmSync(directory, { recursive: true })
  await api.stop()
})

const authority = join(directory, 'ca.pem')
writeFileSync(authority, [api, ...networks].map(({ ca }) => ca).join('\n'))

const execute = promisify(execFile)
const order = ['65432', 'HOOD-S', '29.99']
const secret = `whsec_${Buffer.from('a secret of a webhook').toString('base64')}`

function signDelivery() {
  const body = JSON.stringify({ type: 'records.changed', timestamp: new Date(), data: { changes: [] } })
  const sentAt = new Date()
  const headers = {
    'Webhook-Id': 'delivery-1',
    'Webhook-Timestamp': `${Math.floor(sentAt.getTime() / 1_000)}`,
    'Webhook-Signature': new Webhook(secret).sign('delivery-1', sentAt, body),
  }
  return JSON.stringify({ body, headers, secret })
}

/** Runs a program of a client's package. Returns its output. */
async function runProgram(language: Language, program: string, args: string[], environment = {}) {
  const { stdout, stderr } = await execute(program, args, {
    cwd: join(directory, language),
    env: {
      ...process.env,
      TILLBRIDGE_URL: api.baseUrl,
      TILLBRIDGE_LOSES: networks[0].url,
      TILLBRIDGE_LOSES_TOO: networks[1].url,
      TILLBRIDGE_API_KEY: toApiKey(api),
      TILLBRIDGE_SERVICE: api.service.name,
      TILLBRIDGE_CA: authority,
      TILLBRIDGE_WEBHOOK: signDelivery(),
      ...environment,
    },
  })
  return stdout + stderr
}

function assertExample(output: string) {
  assert.match(
    output,
    /Store 101 Collins Street\nStore 102 Warehouse\nSellable \d+\nError not_found\nOrder (\S+) 29\.99\n/,
  )
  const [, orderId] = /Order (\S+)/.exec(output) ?? []
  assert.match(output, new RegExp(`Change order ${orderId}\n`))
}

test('the Python client works as a package', async t => {
  if (!(await buildClient('python', join(directory, 'python'))))
    return t.skip('openapi-python-client cannot be installed')
  const programs = await installPipTools(
    'httpx==0.28.1',
    'attrs==25.4.0',
    'python-dateutil==2.9.0.post0',
    'setuptools==80.9.0',
  )
  assert.ok(programs)
  const python = join(programs, 'python')
  await execute(join(programs, 'pip'), [
    ...['install', '--quiet', '--no-deps', '--no-build-isolation', '--target', join(directory, 'installed')],
    join(directory, 'python'),
  ])
  const environment = { PYTHONPATH: join(directory, 'installed') }
  assertExample(await runProgram('python', python, ['example.py', ...order], environment))
  disturbNetworks()
  await runProgram('python', python, ['-W', 'error', 'test/client_test.py'], environment)
})

const guzzle = '/usr/share/php/GuzzleHttp/autoload.php'
const hasGuzzle =
  spawnSync('php', ['-r', `exit(extension_loaded("mbstring") && is_file("${guzzle}") ? 0 : 1);`]).status === 0

test('the PHP client works as a package', {
  skip: !hasGuzzle && 'PHP with mbstring and Guzzle is not installed',
}, async t => {
  if (!(await buildClient('php', join(directory, 'php')))) return t.skip('openapi-generator-cli cannot be installed')
  // As Composer would do it, with the Guzzle of the operating system.
  const autoload = join(directory, 'php/autoload.php')
  writeFileSync(
    autoload,
    `<?php require '${guzzle}';
    spl_autoload_register(function ($class) {
        foreach (['Tillbridge\\\\Generated\\\\' => 'generated/', 'Tillbridge\\\\' => 'src/'] as $prefix => $folder)
            if (str_starts_with($class, $prefix))
                return require __DIR__ . "/$folder" . strtr(substr($class, strlen($prefix)), '\\\\', '/') . '.php';
    });`,
  )
  const environment = { TILLBRIDGE_AUTOLOAD: autoload }
  assertExample(await runProgram('php', 'php', ['example.php', ...order], environment))
  disturbNetworks()
  await runProgram('php', 'php', ['test/client-test.php'], environment)
})

const hasMono = spawnSync('mcs', ['--version']).status === 0 && spawnSync('mono', ['--version']).status === 0
const systemLibraries = ['Net.Http', 'Runtime.Serialization', 'ComponentModel.DataAnnotations', 'Web', 'Numerics']

/** Returns the certificate of a server as PEM. Mono rejects our authority, because it doesn't know its constraints. */
async function getCertificate(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), servername: hostname, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  return String(certificate)
}

test('the C# client works as a package', {
  skip: !hasMono && 'Mono with mcs is not installed',
}, async t => {
  const packageDirectory = join(directory, 'csharp')
  // NSwag has a copy of the library that projects get from NuGet.
  const programs = await installNpmTools('nswag@14.7.1')
  if (!programs) return t.skip('Newtonsoft.Json cannot be installed')
  if (!(await buildClient('csharp', packageDirectory))) return t.skip('openapi-generator-cli cannot be installed')
  const library = join(programs, '../nswag/bin/binaries/Win/Newtonsoft.Json.dll')
  cpSync(library, join(packageDirectory, 'Newtonsoft.Json.dll'))
  const compile = async (output: string, ...sources: string[]) => {
    const references = [
      'Newtonsoft.Json.dll',
      ...systemLibraries.map(name => `System.${name}.dll`),
      ...(output.endsWith('.exe') ? ['Tillbridge.Client.dll'] : []),
    ]
    await execute(
      'mcs',
      [
        '-langversion:latest',
        `-target:${output.endsWith('.exe') ? 'exe' : 'library'}`,
        `-out:${output}`,
        ...references.map(name => `-r:${name}`),
        ...sources.flatMap(pattern => globSync(pattern, { cwd: packageDirectory })),
      ],
      { cwd: packageDirectory, maxBuffer: 2 ** 25 },
    )
  }
  await compile('Tillbridge.Client.dll', 'src/*.cs', 'Generated/**/*.cs')
  await compile('example.exe', 'Example.cs', 'Certificates.cs')
  await compile('test.exe', 'test/*.cs', 'Certificates.cs')
  const certificates = await Promise.all([api.baseUrl, ...networks.map(({ url }) => url)].map(getCertificate))
  const file = join(directory, 'certificates.pem')
  writeFileSync(file, certificates.join(''))
  const environment = { TILLBRIDGE_CERTIFICATE: file }
  assertExample(await runProgram('csharp', 'mono', ['example.exe', ...order], environment))
  disturbNetworks()
  await runProgram('csharp', 'mono', ['test.exe'], environment)
})
