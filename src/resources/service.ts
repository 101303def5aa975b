import { Type } from 'typebox'
import type { Api } from '../http/api.ts'
import { Settings } from '../settings.ts'

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
      answer: Settings,
      errors: ['insufficient_role'],
    },
    async ({ service }) => ({ data: service.settings }),
  )
}
