import { Type } from 'typebox'
import { faultsAmong, SettingsChange, ShownSettings } from '../domain/settings.ts'
import { faulty } from '../errors.ts'
import type { Api } from '../http/api.ts'
import { changeSettings, holdSettings, shownSettings } from '../store/settings.ts'

const Capabilities = Type.Object(
  {
    backOffice: Type.Object(
      {
        driver: Type.String({ description: 'What kind of back office it is.', examples: ['embedded'] }),
        release: Type.String({ description: 'The release it answers as.', examples: ['2022.1'] }),
      },
      { additionalProperties: false },
    ),
    capabilities: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['customersUpdatedAfter'] }),
          available: Type.Boolean({ examples: [false] }),
          reason: Type.Optional(
            Type.String({
              description: 'Why it is not.',
              examples: ['It needs release 2022.1 or later; this one is 2021.3.'],
            }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { $id: 'Capabilities', additionalProperties: false },
)

/** What the service is and can do (contract 9). */
export function service(api: Api) {
  api.get(
    '/capabilities',
    {
      tag: 'Service',
      summary: "The back office's release, what works, and what does not and why.",
      answer: Capabilities,
    },
    async ({ backOffice }) => {
      const { driver, release, capabilities } = await backOffice.capabilities()
      return { data: { backOffice: { driver, release }, capabilities } }
    },
  )

  api.get(
    '/settings',
    {
      tag: 'Service',
      role: 'admin',
      summary: 'The settings of the service.',
      answer: ShownSettings,
      etag: true,
    },
    async ({ db, service }) => ({ data: await shownSettings(db, service) }),
  )

  api.put(
    '/settings',
    {
      tag: 'Service',
      role: 'admin',
      summary: 'Changes settings of the service.',
      description:
        'What is not mentioned stays; null returns a setting to its default. A list, or an object, takes the place of the one before. In force everywhere within 5 seconds.',
      body: SettingsChange,
      answer: ShownSettings,
      etag: true,
      errors: ['precondition_failed', 'precondition_required'],
    },
    async ({ tx, service, body, requireMatch }) => {
      await holdSettings(tx, service)
      requireMatch(JSON.stringify(await shownSettings(tx, service)))
      const [first, ...more] = faultsAmong(body)
      if (first) throw faulty([first, ...more])
      await changeSettings(tx, service, body)
      return { data: await shownSettings(tx, service), subject: '/settings' }
    },
  )
}
