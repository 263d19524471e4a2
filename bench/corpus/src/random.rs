//! Owns the random numbers of the generator: a splitmix64 with a fixed seed, so
//! that every machine makes the same corpus.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `low..high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low) as u64) as usize
    }

    /// A size in `low..high` with as many small ones as large ones: each
    /// doubling of the size is equally likely.
    pub fn size(&mut self, low: usize, high: usize) -> usize {
        let fraction = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        (low as f64 * (high as f64 / low as f64).powf(fraction)) as usize
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.next() % 100 < chance
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.between(0, from.len())]
    }

    /// An index into `weights`, each as likely as its weight.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.between(0, weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return index;
            }
            left -= weight;
        }
        unreachable!("the weights sum to more than any draw")
    }

    pub fn letters(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count).map(|_| *self.pick(alphabet) as char).collect()
    }
}
