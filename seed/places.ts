/** A shop of the demo, or its web warehouse. */
export interface Place {
  number: string
  code: string
  name: string
  line1: string
  line2?: string
  city: string
  state: string
  postcode: string
  country: 'Australia' | 'New Zealand'
  /** The area prefix of telephone numbers. */
  areaCode: string
  /** The sales weight, relative to the other places. */
  weight: number
  /** Minutes by which its clock is ahead of the back office's clock in winter. */
  clockOffsetMinutes: number
  buffer?: number
  location?: string
  /** The suburb and postcode of each customer area. */
  suburbs: readonly (readonly [suburb: string, postcode: string])[]
}

const parseSuburbs = (text: string) =>
  text.split(', ').map(entry => [entry.slice(0, -5), entry.slice(-4)] as readonly [string, string])

const createPlace = (
  [number, code, name, line1, city, state, postcode, areaCode]: readonly string[],
  weight: number,
  suburbText: string,
  overrides: Partial<Place> = {},
) =>
  ({
    number,
    code,
    name,
    line1,
    city,
    state,
    postcode,
    areaCode,
    weight,
    country: 'Australia',
    clockOffsetMinutes: 0,
    suburbs: parseSuburbs(suburbText),
    ...overrides,
  }) as Place

const newZealand = { country: 'New Zealand', ahead: 120 } as const

const melbourne = 'Fitzroy 3065, Richmond 3121, Brunswick 3056, St Kilda 3182, Hawthorn 3122, Footscray 3011'
const sydney = 'Newtown 2042, Surry Hills 2010, Marrickville 2204, Bondi 2026, Manly 2095, Parramatta 2150'

/** The shops. Streets are invented. Suburbs and postcodes are real. */
export const shops: readonly Place[] = [
  createPlace(['001', 'PARD', 'Pardalote Lane', '18 Pardalote Lane', 'Melbourne', 'VIC', '3000', '03'], 16, melbourne, {
    location: '68100010001',
    buffer: 2,
  }),
  createPlace(['002', 'FITZ', 'Fitzroy', '241 Cartwheel St', 'Fitzroy', 'VIC', '3065', '03'], 9, melbourne, {
    location: '68100010002',
  }),
  createPlace(['003', 'LANT', 'Lantern Arcade', '77 Lantern Arcade', 'Sydney', 'NSW', '2000', '02'], 15, sydney, {
    line2: 'Shop 12',
    location: '68100010003',
    buffer: 2,
  }),
  createPlace(['004', 'NEWT', 'Newtown', '309 Tramshed Rd', 'Newtown', 'NSW', '2042', '02'], 8, sydney, {
    location: '68100010004',
  }),
  createPlace(
    ['005', 'BRIS', 'Brisbane', '52 Jacaranda Walk', 'Brisbane', 'QLD', '4000', '07'],
    10,
    'West End 4101, Paddington 4064, New Farm 4005, Toowong 4066, Fortitude Valley 4006',
    { line2: 'Level 1', location: '68100010005' },
  ),
  createPlace(
    ['006', 'GOLD', 'Gold Coast', '8 Breakwater Pde', 'Broadbeach', 'QLD', '4218', '07'],
    6,
    'Southport 4215, Burleigh Heads 4220, Robina 4226, Broadbeach 4218',
    { location: '68100010006' },
  ),
  createPlace(
    ['007', 'PERT', 'Perth', '130 Quokka Arcade', 'Perth', 'WA', '6000', '08'],
    7,
    'Subiaco 6008, Northbridge 6003, Leederville 6007, Mount Lawley 6050',
    { location: '68100010007', clockOffsetMinutes: -120 },
  ),
  // Perth and Fremantle share one pick-up location.
  createPlace(
    ['008', 'FREO', 'Fremantle', '24 Limestone Row', 'Fremantle', 'WA', '6160', '08'],
    4,
    'Fremantle 6160, Cottesloe 6011, Applecross 6153',
    { location: '68100010007', clockOffsetMinutes: -120 },
  ),
  createPlace(
    ['009', 'ADEL', 'Adelaide', '65 Vintners Lane', 'Adelaide', 'SA', '5000', '08'],
    6,
    'Norwood 5067, Glenelg 5045, Unley 5061, North Adelaide 5006, Prospect 5082',
    { location: '68100010009', clockOffsetMinutes: -30 },
  ),
  createPlace(
    ['010', 'HOBA', 'Hobart', '11 Signal Station Rd', 'Hobart', 'TAS', '7000', '03'],
    4,
    'Sandy Bay 7005, Battery Point 7004, Moonah 7009, Glenorchy 7010',
    { location: '68100010010', buffer: 1 },
  ),
  createPlace(
    ['011', 'CANB', 'Canberra', '40 Wattlebird Cct', 'Braddon', 'ACT', '2612', '02'],
    6,
    'Braddon 2612, Kingston 2604, Belconnen 2617, Phillip 2606',
    { location: '68100010011' },
  ),
  createPlace(
    ['012', 'DARW', 'Darwin', '3 Monsoon St', 'Darwin City', 'NT', '0800', '08'],
    2,
    'Parap 0820, Nightcliff 0810, Stuart Park 0820, Palmerston 0830',
    { clockOffsetMinutes: -30, buffer: 3 },
  ),
  createPlace(
    ['013', 'NEWC', 'Newcastle', '96 Collier Row', 'Newcastle', 'NSW', '2300', '02'],
    5,
    'Hamilton 2303, Merewether 2291, Charlestown 2290, Mayfield 2304',
    { location: '68100010013' },
  ),
  createPlace(
    ['014', 'GEEL', 'Geelong', '15 Woolpack Lane', 'Geelong', 'VIC', '3220', '03'],
    4,
    'Newtown 3220, Belmont 3216, Geelong West 3218, Torquay 3228',
    { location: '68100010014' },
  ),
  createPlace(
    ['015', 'CAIR', 'Cairns', '27 Cassowary Esp', 'Cairns City', 'QLD', '4870', '07'],
    3,
    'Edge Hill 4870, Smithfield 4878, Trinity Beach 4879, Gordonvale 4865',
    { buffer: 3 },
  ),
  createPlace(
    ['016', 'AUCK', 'Auckland', '210 Pōhutukawa Lane', 'Auckland', 'Auckland', '1010', '09'],
    9,
    'Ponsonby 1011, Newmarket 1023, Takapuna 0622, Mount Eden 1024, Parnell 1052',
    { ...newZealand, location: '68100010016', buffer: 1 },
  ),
  createPlace(
    ['017', 'WELL', 'Wellington', '88 Southerly St', 'Wellington', 'Wellington', '6011', '04'],
    6,
    'Te Aro 6011, Newtown 6021, Karori 6012, Kilbirnie 6022, Petone 5012',
    { ...newZealand, location: '68100010017' },
  ),
  createPlace(
    ['018', 'CHCH', 'Christchurch', '33 Willowbank Mews', 'Christchurch', 'Canterbury', '8011', '03'],
    5,
    'Riccarton 8011, Merivale 8014, Sumner 8081, Addington 8024',
    { ...newZealand, location: '68100010018' },
  ),
  createPlace(
    ['019', 'DUNE', 'Dunedin', '6 Peat Hill Rd', 'Dunedin', 'Otago', '9016', '03'],
    2,
    'North Dunedin 9016, St Clair 9012, Roslyn 9010, Mosgiel 9024',
    newZealand,
  ),
]

/** The warehouse that ships web orders. */
export const warehouse: Place = createPlace(
  ['090', 'WEB', 'Web Warehouse', '4 Longhaul Dr', 'Truganina', 'VIC', '3029', '03'],
  0,
  'Truganina 3029',
  { line2: 'Unit 2', location: '68100010090', buffer: 0 },
)

export const places: readonly Place[] = [...shops, warehouse]
