import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { Value } from 'typebox/value'
import { parse, parseAllDocuments } from 'yaml'
import packageManifest from '../../package.json' with { type: 'json' }
import { type Config, readConfig } from '../../src/config/config.ts'
import { checkout, createDirectory } from '../support/processes.ts'
import { Cluster } from './cloudnative-pg.ts'

const chart = join(checkout, 'deploy/helm/tillbridge')

/** Helm's library for Python, which .ci/helm installs if there is no helm. */
const python = join(homedir(), '.cache/tillbridge-helm/bin/python')
const hasHelm = spawnSync('helm', ['version']).status === 0
const hasLibrary = spawnSync(python, ['-c', 'import helm_python']).status === 0
const skip = !hasHelm && !hasLibrary && 'neither helm nor its library (.ci/helm) is installed'

const renderChart = (values: object) =>
  hasHelm
    ? spawnSync('helm', ['template', 'till', chart, '--namespace=shop', '--kube-version=1.33.0', '--values=-'], {
        encoding: 'utf8',
        input: JSON.stringify(values),
      })
    : spawnSync(python, [join(import.meta.dirname, 'render-chart.py'), chart], {
        encoding: 'utf8',
        input: JSON.stringify(values),
      })

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
type Manifest = Record<string, any>

function render(values: object = {}): Manifest[] {
  const { status, stdout, stderr } = renderChart(values)
  assert.equal(status, 0, stderr)
  return parseAllDocuments(stdout)
    .map(document => document.toJS())
    .filter(Boolean)
}

const allValues = {
  publicUrl: 'https://api.example.com',
  tls: { secretName: 'tillbridge-tls' },
  env: { ACCESS_LOG: true, WEB_CONCURRENCY: 2, DATABASE_POOL: 10 },
  extraEnv: [{ name: 'SMTP_URL', valueFrom: { secretKeyRef: { name: 'mail', key: 'url' } } }],
  imagePullSecrets: [{ name: 'registry' }],
  serviceAccount: { annotations: { 'example.com/role': 'shop' } },
  service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' } },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'shop', operator: 'Exists' }],
  metrics: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
    dashboard: { enabled: true },
  },
}

/** Packages with models of the kinds that the chart uses, generated from the schemas of Kubernetes and the Prometheus Operator. */
const models: Record<string, string> = {
  'v1/ConfigMap': 'kubernetes-models/v1/ConfigMap',
  'v1/Service': 'kubernetes-models/v1/Service',
  'v1/ServiceAccount': 'kubernetes-models/v1/ServiceAccount',
  'apps/v1/Deployment': 'kubernetes-models/apps/v1/Deployment',
  'batch/v1/Job': 'kubernetes-models/batch/v1/Job',
  'policy/v1/PodDisruptionBudget': 'kubernetes-models/policy/v1/PodDisruptionBudget',
  'monitoring.coreos.com/v1/ServiceMonitor':
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
  'monitoring.coreos.com/v1/PrometheusRule':
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
}

/** Returns the errors of manifests. The compiler finds unknown and missing fields, and the schema finds invalid values. */
async function findSchemaErrors(manifests: readonly Manifest[]): Promise<string[]> {
  const errors: string[] = []
  const lines: string[] = []
  for (const [i, manifest] of manifests.entries()) {
    const model = models[`${manifest.apiVersion}/${manifest.kind}`]
    if (!model) return [`${manifest.apiVersion} ${manifest.kind} has no model`]
    const { [manifest.kind]: Model } = await import(model)
    try {
      new Model(manifest).validate()
    } catch (error) {
      errors.push(`${manifest.kind} ${manifest.metadata.name}: ${(error as Error).message}`)
    }
    lines.push(`import type { I${manifest.kind} as T${i} } from '${model}'`)
    lines.push(`export const manifest${i}: T${i} = ${JSON.stringify(manifest)}`)
  }
  const directory = createDirectory()
  symlinkSync(join(checkout, 'node_modules'), join(directory, 'node_modules'))
  const file = join(directory, 'manifests.ts')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace('package.json', 'bin/tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig']
  const { stdout } = spawnSync(process.execPath, [tsc, ...options, file], { encoding: 'utf8' })
  return [...errors, ...stdout.split('\n').filter(Boolean)]
}

describe('the Helm chart', { skip }, () => {
  let manifests: Manifest[]
  before(() => {
    manifests = render(allValues)
  })
  const findManifest = (kind: string, name: string) =>
    manifests.find(candidate => candidate.kind === kind && candidate.metadata.name === name) ??
    assert.fail(`${kind} ${name} is missing`)
  const getContainer = ({ spec }: Manifest): Manifest => spec.template.spec.containers[0]

  test('rendered manifests have the schemas of Kubernetes', async () => {
    assert.deepEqual(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [
      'ConfigMap till-tillbridge-dashboard',
      'Deployment till-tillbridge',
      'Deployment till-tillbridge-worker',
      'Job till-tillbridge-migrate',
      'PodDisruptionBudget till-tillbridge',
      'PrometheusRule till-tillbridge',
      'Service till-tillbridge',
      'Service till-tillbridge-metrics',
      'ServiceAccount till-tillbridge',
      'ServiceMonitor till-tillbridge',
    ])
    assert.deepEqual(await findSchemaErrors(manifests), [])
    assert.deepEqual(await findSchemaErrors(render()), [])
    const unknown = { ...findManifest('Job', 'till-tillbridge-migrate'), spec: { backofLimit: 5 } }
    assert.match((await findSchemaErrors([unknown])).join('\n'), /backofLimit/)
  })

  test('the environment consists of settings that the configuration accepts', () => {
    for (const workload of ['Deployment', 'Job'].flatMap(kind =>
      manifests.filter(candidate => candidate.kind === kind),
    )) {
      const variables: Manifest[] = getContainer(workload).env
      const names = variables.map(({ name }) => name)
      assert.equal(new Set(names).size, names.length, workload.metadata.name)
      for (const name of ['DATABASE_URL', 'SECRET_KEY', 'SMTP_URL', 'METRICS_HOST'])
        assert.ok(names.includes(name), name)
      const plain = variables.filter(({ name, value }) => value !== undefined && !name.startsWith('TLS_'))
      const config: Config = readConfig(Object.fromEntries(plain.map(({ name, value }) => [name, value])))
      assert.deepEqual([config.webConcurrency, config.databasePool, config.metricsPort], [2, 10, 9464])
      const example = readFileSync(join(checkout, '.env.example'), 'utf8')
      assert.deepEqual(
        names.filter(name => !example.includes(`#${name}=`)),
        [],
      )
    }
  })

  test('processes are unprivileged, read-only and drained before they stop', () => {
    const api = findManifest('Deployment', 'till-tillbridge')
    for (const workload of [
      api,
      findManifest('Deployment', 'till-tillbridge-worker'),
      findManifest('Job', 'till-tillbridge-migrate'),
    ]) {
      const { securityContext } = workload.spec.template.spec
      assert.deepEqual([securityContext.runAsNonRoot, securityContext.runAsUser], [true, 10_001])
      assert.equal(getContainer(workload).securityContext.readOnlyRootFilesystem, true)
      assert.deepEqual(getContainer(workload).securityContext.capabilities, { drop: ['ALL'] })
      assert.equal(getContainer(workload).image, `tillbridge:${packageManifest.version}`)
    }
    const config = readConfig(
      Object.fromEntries(
        getContainer(api).env.flatMap((variable: Manifest) =>
          /SECONDS$/.test(variable.name) ? [[variable.name, variable.value]] : [],
        ),
      ),
    )
    assert.ok(
      api.spec.template.spec.terminationGracePeriodSeconds >= config.shutdownDelaySeconds + config.drainSeconds + 15,
    )
    assert.deepEqual(api.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
    assert.equal(
      findManifest('Job', 'till-tillbridge-migrate').metadata.annotations['helm.sh/hook'],
      'pre-install,pre-upgrade',
    )
  })

  test('services select the pods, and metrics of API and workers are scraped', () => {
    const getPodLabels = (name: string) => findManifest('Deployment', name).spec.template.metadata.labels
    const selects = (selector: object, pod: Manifest) =>
      Object.entries(selector).every(([name, value]) => pod[name] === value)
    for (const [service, api, worker] of [
      ['till-tillbridge', true, false],
      ['till-tillbridge-metrics', true, true],
    ] as const) {
      const { selector } = findManifest('Service', service).spec
      assert.deepEqual(
        [selects(selector, getPodLabels('till-tillbridge')), selects(selector, getPodLabels('till-tillbridge-worker'))],
        [api, worker],
      )
    }
    const monitor = findManifest('ServiceMonitor', 'till-tillbridge').spec
    assert.ok(selects(monitor.selector.matchLabels, findManifest('Service', 'till-tillbridge-metrics').metadata.labels))
    assert.ok(!selects(monitor.selector.matchLabels, findManifest('Service', 'till-tillbridge').metadata.labels))
    assert.deepEqual(monitor.endpoints[0].relabelings[0], {
      targetLabel: 'job',
      replacement: 'tillbridge',
      action: 'replace',
    })
  })

  test('the rules and the dashboard are those of deploy', () => {
    const rules = parse(readFileSync(join(checkout, 'deploy/prometheus/rules.yml'), 'utf8'))
    const rendered = findManifest('PrometheusRule', 'till-tillbridge').spec
    const toRunbookUrl = (text: string) =>
      text.replace('docs/operate/runbooks.md', `${allValues.publicUrl}/docs/operate/runbooks`)
    for (const group of rules.groups)
      for (const { annotations } of group.rules)
        if (annotations) {
          annotations.runbook_url = toRunbookUrl(annotations.runbook)
          delete annotations.runbook
        }
    assert.deepEqual(rendered, rules)
    assert.equal(
      findManifest('ConfigMap', 'till-tillbridge-dashboard').data['tillbridge.json'].trim(),
      readFileSync(join(checkout, 'deploy/grafana/tillbridge.json'), 'utf8').trim(),
    )
  })

  test('values with an unknown or invalid field are rejected', () => {
    for (const values of [{ api: { replicas: 0 } }, { replicas: 3 }, { publicUrl: 'http://api.example.com' }])
      assert.notEqual(renderChart(values).status, 0, JSON.stringify(values))
  })

  test('the example of CloudNativePG has the schema of its operator', () => {
    const cluster = parse(readFileSync(join(checkout, 'deploy/helm/cloudnative-pg.yaml'), 'utf8'))
    assert.deepEqual(Value.Errors(Cluster, cluster), [])
    cluster.spec.postgresql.parameters.max_connections = 200
    cluster.spec.instance = 3
    const paths = Value.Errors(Cluster, cluster).map(({ instancePath }) => instancePath)
    assert.deepEqual(paths, ['/spec/instance', '/spec', '/spec/postgresql/parameters/max_connections'])
  })

  test('the example of CloudNativePG creates the secret that the chart reads', () => {
    const cluster = parse(readFileSync(join(checkout, 'deploy/helm/cloudnative-pg.yaml'), 'utf8'))
    const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
    assert.deepEqual(values.secrets.databaseUrl, { name: `${cluster.metadata.name}-app`, key: 'uri' })
    const { version, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
    assert.deepEqual([version, appVersion], [packageManifest.version, packageManifest.version])
  })
})
