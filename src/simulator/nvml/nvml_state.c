/* SPDX-License-Identifier: Apache-2.0
 *
 * How busy a simulated device is: utilisation is the simulated time of this process's work in the
 * last sample period; power draw and temperature follow it on a straight line, because nothing here
 * heats. Clocks are the preset's highest; a simulated device never slows down. */
#include "simulator/nvml/vs_sim_nvml_device.h"

#include <pthread.h>

#include "base/vs_clock.h"

#define PERIOD_NS UINT64_C(200000000) /* of a sample */
#define IDLE_CELSIUS 30
#define BUSY_CELSIUS 70
#define SLOWDOWN_CELSIUS 87
#define SHUTDOWN_CELSIUS 92
#define IDLE_PER_CENT 10 /* of the power limit */

static const struct vs_sim_preset *preset(void) { return vs_sim_nvml_spec.preset; }

/* ---- utilisation ---- */

static struct utilisation_sample { /* the last finished period */
    uint64_t time_ns, kernel_ns, transfer_ns;
    nvmlUtilization_t percent;
} samples[VS_SIM_DEVICES_MAX]; /* guarded by samples_mu */
static pthread_mutex_t samples_mu = PTHREAD_MUTEX_INITIALIZER;

static unsigned per_cent(uint64_t part, uint64_t whole)
{
    return part >= whole ? 100 : (unsigned)(part * 100 / whole);
}

/* Work in several streams at a time counts several times, so the share is limited to 100 %. */
static nvmlUtilization_t utilisation(unsigned physical)
{
    uint64_t now = vs_clock_ns(), kernel_ns, transfer_ns;
    vs_sim_nvml_worked(physical, &kernel_ns, &transfer_ns);
    pthread_mutex_lock(&samples_mu);
    struct utilisation_sample *s = &samples[physical];
    uint64_t passed = now - s->time_ns;
    if (passed >= PERIOD_NS) {
        if (s->time_ns) {
            s->percent.gpu = per_cent(kernel_ns - s->kernel_ns, passed);
            s->percent.memory = per_cent(transfer_ns - s->transfer_ns, passed);
        }
        s->time_ns = now;
        s->kernel_ns = kernel_ns;
        s->transfer_ns = transfer_ns;
    }
    nvmlUtilization_t percent = s->percent;
    pthread_mutex_unlock(&samples_mu);
    return percent;
}

NVML_ANSWER(nvmlDeviceGetUtilizationRates, (nvmlDevice_t device, nvmlUtilization_t *rates), rates,
            *rates = utilisation(physical))

/* Video engines, which simulated devices do not have. */
#define VIDEO_ENGINE(name)                                                                \
    NVML_ANSWER(name, (nvmlDevice_t device, unsigned *percent, unsigned *period_us),      \
                period_us ? percent : NULL, *percent = 0, *period_us = PERIOD_NS / 1000)
VIDEO_ENGINE(nvmlDeviceGetEncoderUtilization)
VIDEO_ENGINE(nvmlDeviceGetDecoderUtilization)

/* ---- power and temperature ---- */

static unsigned limit_mw(void) { return preset()->board_watts * 1000; }

static unsigned power_mw(unsigned physical)
{
    unsigned percent = IDLE_PER_CENT + utilisation(physical).gpu * (100 - IDLE_PER_CENT) / 100;
    return limit_mw() / 100 * percent;
}

NVML_NUMBER(nvmlDeviceGetPowerUsage, power_mw(physical))
NVML_NUMBER(nvmlDeviceGetEnforcedPowerLimit, limit_mw())
NVML_NUMBER(nvmlDeviceGetPowerManagementLimit, limit_mw())
NVML_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, limit_mw())

/* The limit cannot be changed. */
NVML(nvmlDeviceGetPowerManagementLimitConstraints,
     (nvmlDevice_t device, unsigned *least, unsigned *most))
{
    nvmlReturn_t r = nvmlDeviceGetEnforcedPowerLimit(device, most ? least : NULL);
    if (!r)
        *most = *least;
    return r;
}

static nvmlReturn_t temperature(nvmlDevice_t device, unsigned sensor, unsigned *celsius)
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, celsius, &physical);
    if (!r && sensor != NVML_TEMPERATURE_GPU)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *celsius = IDLE_CELSIUS + utilisation(physical).gpu * (BUSY_CELSIUS - IDLE_CELSIUS) / 100;
    return r;
}

NVML_AS(nvmlDeviceGetTemperature, (nvmlDevice_t device, unsigned sensor, unsigned *celsius),
        temperature(device, sensor, celsius))

NVML(nvmlDeviceGetTemperatureV, (nvmlDevice_t device, nvmlTemperature_t *answer))
{
    unsigned celsius = 0;
    if (answer && answer->version != NVML_TEMPERATURE_V1)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlReturn_t r = temperature(device, answer ? answer->sensorType : 0, answer ? &celsius : NULL);
    if (!r)
        answer->temperature = (int)celsius;
    return r;
}

NVML(nvmlDeviceGetTemperatureThreshold, (nvmlDevice_t device, unsigned which, unsigned *celsius))
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, celsius, &physical);
    if (r)
        return r;
    switch (which) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN: *celsius = SHUTDOWN_CELSIUS; return NVML_SUCCESS;
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX:
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX: *celsius = SLOWDOWN_CELSIUS; return NVML_SUCCESS;
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
}

/* ---- clocks ---- */

static nvmlReturn_t clock_mhz(nvmlDevice_t device, unsigned type, unsigned *mhz)
{
    unsigned physical;
    nvmlReturn_t r = vs_sim_nvml_enter_device(device, mhz, &physical);
    if (!r && type >= NVML_CLOCK_COUNT)
        r = NVML_ERROR_INVALID_ARGUMENT;
    if (!r)
        *mhz = (unsigned)(type == NVML_CLOCK_MEM ? preset()->memory_clock_khz : preset()->clock_khz) /
               1000;
    return r;
}

NVML_AS(nvmlDeviceGetClockInfo, (nvmlDevice_t device, unsigned type, unsigned *mhz),
        clock_mhz(device, type, mhz))
NVML_AS(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, unsigned type, unsigned *mhz),
        clock_mhz(device, type, mhz))
NVML_AS(nvmlDeviceGetApplicationsClock, (nvmlDevice_t device, unsigned type, unsigned *mhz),
        clock_mhz(device, type, mhz))
NVML_AS(nvmlDeviceGetClock, (nvmlDevice_t device, unsigned type, unsigned which, unsigned *mhz),
        which < NVML_CLOCK_ID_COUNT ? clock_mhz(device, type, mhz) : NVML_ERROR_INVALID_ARGUMENT)

NVML_NUMBER(nvmlDeviceGetPerformanceState, NVML_PSTATE_0)

/* Reasons for slower clocks: none. */
NVML_ANSWER(nvmlDeviceGetCurrentClocksEventReasons,
            (nvmlDevice_t device, unsigned long long *reasons), reasons, *reasons = 0)
NVML_ANSWER(nvmlDeviceGetCurrentClocksThrottleReasons,
            (nvmlDevice_t device, unsigned long long *reasons), reasons, *reasons = 0)
